# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion for cmx(8), whose words come from cmx itself.

function __cmx_words
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	$words[1] complete $words[2..-1] "$current" 2>/dev/null
end

complete -c cmx -f -n 'not __fish_seen_subcommand_from run' -a '(__cmx_words)'
complete -c cmx -x -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand --fcs-skip=2)'
