# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion for cmx(8). The commands and filters are those that "cmx -h" lists.
# shellcheck shell=bash

_cmx_filters() { cmx -h | sed -n 's/^filters: //p'; }

_cmx_show_values() { # FILTER
	case $1 in
	dev)	(cd /sys/class/infiniband 2>/dev/null && echo *);;
	state)	echo idle bound addr-query addr-resolved route-query route-resolved listen connect \
			established disconnect removed dead;;
	*)	return 1;;
	esac
}

# Filters and their values take turns after "ids"; options are anywhere.
_cmx_show_words() {
	local word last='' turn=name
	case $cur in
	-*)	echo -d -j -p; return;;
	esac
	for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
		case $word in
		-*|ids) ;;
		*)	last=$word; [ $turn = name ] && turn=value || turn=name;;
		esac
	done
	if [ $turn = value ]; then
		_cmx_show_values "$last"
	else
		_cmx_filters
		[ "$COMP_CWORD" -gt 2 ] || echo ids mcast paths stats
	fi
}

# the ports that have FILE, a line each
_cmx_ports() {
	local file
	for file in /sys/class/infiniband/*/cmx*/"$1"; do
		[[ ! $file =~ ^/sys/class/infiniband/([^/]+)/cmx([0-9]+)/ ]] ||
			echo "${BASH_REMATCH[1]}/${BASH_REMATCH[2]}"
	done
}

_cmx_default_words() {
	if [ "$COMP_CWORD" = 2 ]; then
		(cd /sys/module/rdma_cmx/parameters 2>/dev/null && echo *)
		_cmx_ports default_roce_tos
		echo -i
	elif [[ ${COMP_WORDS[2]} = */* ]]; then
		case ${COMP_WORDS[COMP_CWORD-1]} in
		tos)	echo none;;
		mode)	echo v1 v2;;
		*)	echo tos mode;;
		esac
	fi
}

_cmx_words() {
	if [ "$COMP_CWORD" = 1 ]; then
		cmx -h | awk '$1 == "cmx" && $2 ~ /^[a-z]/ { print $2 }' | uniq
		return
	fi
	case ${COMP_WORDS[1]} in
	show)	_cmx_show_words;;
	default) _cmx_default_words;;
	monitor) echo -j;;
	stats)	echo -j -m; _cmx_ports connected | sed 's|^\([^/]*\)/.*|\1 &|';;
	esac
}

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
	mapfile -t COMPREPLY < <(compgen -W "$(_cmx_words)" -- "$cur")
}
complete -F _cmx cmx
