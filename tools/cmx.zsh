#compdef cmx
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion for cmx(8), whose words come from cmx itself.

if [[ $words[2] = run ]] && (( CURRENT > 2 )); then
	shift 2 words
	(( CURRENT -= 2 ))
	_normal
else
	compadd -- ${(f)"$($words[1] complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}
fi
