# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion for cmx(8), whose words come from cmx itself.
# shellcheck shell=bash

_cmx() {
	local cur=${COMP_WORDS[COMP_CWORD]}
	if [ "${COMP_WORDS[1]}" = run ] && [ "$COMP_CWORD" -ge 2 ]; then
		# bash-completion has it: complete as the program does
		if declare -F _command_offset >/dev/null; then
			_command_offset 2
		else
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		fi
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$cur")
}
complete -F _cmx cmx
