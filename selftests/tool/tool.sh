#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tool: the mode of the char device, and the commands of cmx(8): show ids, run, options, default, version
# kernels: release uml
# check: uml
# hardware: all, without a device; not the ids
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/tool/guest.sh"
params=/sys/module/rdma_cmx/parameters
dev=/dev/infiniband/rdma_cmx

option_default() { "$cmx" options | awk -v o="$1" '$1 == o { print $3 }'; }

check "version: JSON without the module is as the schema says" valid version version -j
check "version: JSON has no module that is not loaded" eval '! "$cmx" version -j | grep -q module'
check "version prints that the module is not loaded" eval '"$cmx" version | grep -q "^module  *not loaded"'
check_not "default fails without the module" "$cmx" default tos
check "report: tells what is missing without the module" eval '"$cmx" report | grep -q "^cmx: The module rdma_cmx is not loaded"'
for command in "default tos" "default tos 8" "default -j" "default --save /run/saved" "show mcast" stats monitor; do
	check "$command: prints that the module is not loaded" \
		eval '"$cmx" $command 2>&1 | grep -q "^cmx: The module rdma_cmx is not loaded"'
done
# load_cmx changes the mode of the device. Without it, the device has the mode that the module sets.
ko=$(cmx_module) && modprobe -a $(modinfo -F depends "$ko" | tr , ' ') || exit
# loads: let a request for the alias load the module, as if it were installed
loads() {
	local modprobe ret=0 tmp
	modprobe=$(cat /proc/sys/kernel/modprobe)
	tmp=$(mktemp)
	printf '%s\n' '#!/bin/sh' "exec insmod $ko" >"$tmp"
	chmod +x "$tmp"
	echo "$tmp" >/proc/sys/kernel/modprobe
	"$cmx" show >/dev/null || ret=$?
	echo "$modprobe" >/proc/sys/kernel/modprobe
	rm "$tmp"
	rmmod rdma_cmx && return $ret
}
check "show loads the module" loads
insmod "$ko" || exit
within 5 test -c $dev
check "the device's mode without udev" says "666 root root" stat -c '%a %U %G' $dev
check "version succeeds for another user" as_nobody "$cmx" version
check "version shows the module to another user" eval \
	'as_nobody "$cmx" version | grep -q "^module  *$(modinfo -F version "$ko"), ABI [0-9]"'
check "version: JSON is as the schema says" valid version version -p
check "version: JSON has the same versions" says "$(as_nobody "$cmx" version | sed -E 's/  +/ /; s/, .*//')" eval \
	'"$cmx" --json version | python3 -c "import json, sys
for name, part in json.load(sys.stdin).items(): print(name, part[\"version\"])"'
check "version shows the library" eval '"$cmx" version | grep -q "^library  *[^ ]*, $cmx_lib\$"'

check "run puts our library first" eval \
	'[[ "$("$cmx" run printenv LD_LIBRARY_PATH)" = "$cmx_lib" ]]'
check "run keeps the previous library path" eval \
	'[[ "$(LD_LIBRARY_PATH=/a:/b "$cmx" run printenv LD_LIBRARY_PATH)" = "$cmx_lib:/a:/b" ]]'
check "run passes arguments and status on" status_is 7 "$cmx" run sh -c 'exit $1' sh 7
check "run without a program" status_is 2 "$cmx" run
check "run of a missing program" status_is 127 "$cmx" run /no/such/program
check "run of a file that is no program" status_is 126 "$cmx" run /etc/passwd
check "run without the library" status_is 125 env -C / bash -c 'cp "$1" /run/cmx && /run/cmx run true' - "$cmx"
check "run: rping is on our library" eval '"$cmx" run ldd "$(command -v rping)" | grep -q "$cmx_lib/librdmacm"'

for p in tos cm_retries cm_response_timeout connect_deadline_ms close_seconds netns_listen \
	 path_cache path_cache_seconds; do
	check "default shows $p" says "$p $(cat $params/$p)" "$cmx" default $p
done
check "default shows all parameters" says "$(cd $params && grep . -- * | tr : ' ')" \
	eval '"$cmx" default | sort'
old=$(cat $params/cm_retries)
check "default sets cm_retries" "$cmx" default cm_retries 5
check "a parameter has the value that default has set" grep -qx 5 $params/cm_retries
check "options show a default that was set" [ "$(option_default CM_RETRIES)" = 5 ]
check "default refuses a value out of range" status_is 1 "$cmx" default cm_retries 16
check "a parameter keeps its value after a refusal" grep -qx 5 $params/cm_retries
check "default restores cm_retries" "$cmx" default cm_retries "$old"
check "default of an unknown parameter" status_is 1 "$cmx" default nothing

# "NAME:TEXT: MIN..MAX (DEFAULT)", which the module must obey and the documentation repeat
refused() { # PARAMETER VALUE: with EINVAL
	LC_ALL=C bash -c 'echo "$2" >"$1"' - "$params/$1" "$2" 2>&1 |
		grep -q "Invalid argument" && return
	echo "$1 takes $2"
	return 1
}
range_holds() { # PARAMETER MIN MAX DEFAULT
	local status=0
	[ "$(<"$params/$1")" = "$4" ] || { echo "its value is $(<"$params/$1")"; return 1; }
	[ "$2" = 0 ] || refused "$1" $(($2 - 1)) || status=1
	refused "$1" -1 && refused "$1" $(($3 + 1)) && refused "$1" 4294967296 && refused "$1" x || status=1
	[ "$(<"$params/$1")" = "$4" ] || { echo "a refused value has changed it"; status=1; }
	echo "$3" >"$params/$1" && echo "$2" >"$params/$1" || status=1
	echo "$4" >"$params/$1"
	return $status
}
text=$(modinfo -p "$ko")
check "every parameter has its range in its text" says "$(cd $params && printf '%s\n' *)" \
	eval 'sed -nE "s/^([a-z_]+):.*: ([0-9]+\.\.[0-9]+|Y, N) \([^ ]+\)( \(bool\))?\$/\1/p" <<<"$text" | sort'
file_is_right() { "$cmx" default --check <(echo "$*"); }
table_knows() { # PARAMETER MIN MAX: as the module
	file_is_right "$1 $2" && file_is_right "$1 $3" && ! file_is_right "$1 $(($2 - 1))" && ! file_is_right "$1 $(($3 + 1))"
}
while read -r p min max def; do
	check "default --check knows the range of $p" table_knows "$p" "$min" "$max"
	check "range of $p" range_holds "$p" "$min" "$max" "$def"
	check "documented range of $p" grep -qE "^$p +$min\.\.$max +([0-9]+ or )?$def( or [0-9]+)? " "$top/Documentation/options.rst"
done < <(sed -nE 's/^([a-z_]+):.*: ([0-9]+)\.\.([0-9]+) \(([0-9]+)\)$/\1 \2 \3 \4/p' <<<"$text")
check "netns_listen takes Y or N" refused netns_listen 2
check "default --check knows Y and N" eval \
	'file_is_right netns_listen Y && file_is_right netns_listen N && ! file_is_right netns_listen YN'
check "default: JSON is as the schema says" valid default default -j
check "default: JSON has the parameters" says "$(cd $params && grep . -- * | sed 's/:/ /; s/Y$/True/; s/N$/False/')" \
	eval '"$cmx" -j default | python3 -c "import json, sys
for p in sorted(json.load(sys.stdin)[\"parameters\"].items()): print(*p)"'
check "default: JSON of one parameter" says "{\"parameters\":{\"cm_retries\":$(<$params/cm_retries)},\"ports\":[]}" \
	"$cmx" default --json cm_retries

# files with defaults
conf=/run/defaults.conf
cat >$conf <<-END
	# a comment
	connect_deadline_ms 4000	# until the update

	cm_retries 7
	RDMA_CMX_FALLBACK=1
	nosuch0/1 tos 8
	*/* mode v2 tos none
END
check "default --check of a right file" says "" "$cmx" default --check $conf
check "default --check of a missing file" status_is 1 "$cmx" default --check $conf.no
check "default --load sets the parameters" says "connect_deadline_ms 4000 cm_retries 7" \
	eval '"$cmx" default --load $conf && echo $("$cmx" default connect_deadline_ms) $("$cmx" default cm_retries)'
"$cmx" default cm_retries 5
"$cmx" default max_backlog 77
"$cmx" default netns_listen Y
check "default --save" "$cmx" default --save $conf
check "default --save keeps comments, absent ports and the line of the library, and adds what is no default" says \
	"$(printf '%s\n' "# a comment" "connect_deadline_ms 4000 # until the update" "" "cm_retries 5" \
		"RDMA_CMX_FALLBACK=1" "nosuch0/1 tos 8" "*/* mode v2 tos none" "max_backlog 77" \
		"max_user_requests $(<$params/max_user_requests)" "netns_listen Y")" cat $conf
check "default --save: a second time changes nothing" eval 'cp $conf $conf.2 && "$cmx" default --save $conf && cmp $conf $conf.2'
check "default --save into a new file" says "$(printf '%s\n' "cm_retries 5" "connect_deadline_ms 4000" "max_backlog 77" \
	"max_user_requests $(<$params/max_user_requests)" "netns_listen Y")" eval '"$cmx" default --save $conf.3 && cat $conf.3'
for p in "connect_deadline_ms 0" "cm_retries 15" "max_backlog 1024" "netns_listen N"; do
	# shellcheck disable=SC2086 # they are two words
	"$cmx" default $p
done
check_not "another user cannot load a file" as_nobody "$cmx" default --load $conf
{ echo "cm_retries 99"; echo "connect_deadline_ms 3"; } >$conf.2
check "default --load applies lines after a wrong one" says "cmx: $conf.2:1: 99: not in 0..15 1 3 15" \
	eval 'echo $("$cmx" default --load $conf.2 2>&1; echo $?) $(<$params/connect_deadline_ms) $(<$params/cm_retries)'
"$cmx" default connect_deadline_ms 0
check "default --save leaves a wrong file as it is" says "1 $(<$conf.2)" eval \
	'echo "$("$cmx" default --save $conf.2 2>/dev/null; echo $?) $(<$conf.2)"; [ ! -e $conf.2.new ]'
while IFS='|' read -r line word why; do
	check "default --check: $line" says "cmx: $conf:2: $word: $why status 1" \
		eval 'printf "%s\n" "# line 1" "$line" >$conf; echo "$("$cmx" default --check $conf 2>&1 || echo status $?)" | xargs'
done <<-END
	tos 256|256|not in 0..255
	tos 8x|8x|not in 0..255
	tos -1|-1|not in 0..255
	tos|tos|no value
	tos 1 2|2|unexpected
	ttl 1|ttl|no such parameter
	netns_listen 2|2|neither Y nor N
	rxe0/x tos 1|rxe0|not a device and a port
	/1 tos 1||not a device and a port
	rxe0/1|rxe0|neither tos nor mode follows
	rxe0/1 tos|tos|no value
	rxe0/1 tos 256|256|neither none nor in 0..255
	rxe0/1 mode v3|v3|no such mode
	rxe0/1 mode 2|2|no such mode
	rxe0/1 tos -1|-1|neither none nor in 0..255
	rxe0/1 ttl 1|ttl|neither tos nor mode
END
check "default --check of too many files" status_is 2 "$cmx" default --check $conf $conf
rm $conf $conf.[23]
check "default stays in its folder" status_is 2 "$cmx" default ../taint
check_not "another user sets no default" as_nobody "$cmx" default cm_retries 3

# every option of the documentation, and no other
check "options lists all documented options" says \
	"$(awk '/^======.* =/ { n++; next } n == 2 { print $1 }' "$top/Documentation/options.rst")" \
	eval '"$cmx" options | awk "NR > 1 { print \$1 }"'
check "options: JSON is as the schema says" valid options options --json
check "options: JSON has the same options" says "$("$cmx" options | sed '1d; s/0, 1/0..1/' | awk '{ print $1, $3, $4 }')" eval \
	'"$cmx" options -j | python3 -c "import json, sys
for o in json.load(sys.stdin): print(o[\"option\"], o.get(\"default-from\", o.get(\"default\")), o[\"until\"])"'
check "options takes no argument" status_is 2 "$cmx" options x
while read -r word args; do
	# shellcheck disable=SC2086 # they are words
	check "a usage error names the wrong word: cmx $args" eval \
		'[[ $("$cmx" $args 2>&1 >/dev/null | head -n 1) = "cmx: $word: "* ]]'
done <<-END
	frobnicate frobnicate
	run run
	x options x
	x version x
	x monitor x
	x monitor -j x
	--colour monitor --colour
	-d monitor --details
	-d show -d mcast
	-j -j run true
	-d -d version
	y stats x y
	c default a b c
	ttl default rxe0/1 ttl 1
	tos default rxe0/1 tos
	v3 default rxe0/1 mode v3
	256 default rxe0/1 tos 256
	x default rxe0/1 mode v2 tos x
	-x show -x
	pid show pid
	kill kill
	pid kill pid
	-x kill -x
	maybe drain maybe
END
check "cmx without a command is a usage error" status_is 2 "$cmx"
check "help goes to standard output" eval '"$cmx" -h 2>/dev/null | grep -q "^usage:"'
check "help of a command goes to standard output" eval '"$cmx" show -h 2>/dev/null | grep -q "^usage:"'
check "the version of the tool" says "$("$cmx" version | sed -nE 's/^(cmx) +([^,]*),.*/\1 \2/p')" "$cmx" -V
check "show: a filter without a value" status_is 2 "$cmx" show ids pid
check "show: a filter that does not exist" status_is 2 "$cmx" show ids colour 1
check "show: an invalid number" status_is 2 "$cmx" show ids lqpn x1
check "show: a state that does not exist" status_is 2 "$cmx" show ids state none
check "show: an invalid address" status_is 2 "$cmx" show ids src-addr 10.77.0
check "show: an option that does not exist" status_is 2 "$cmx" show -x
for args in "show -j" "-j show" "--json show ids" "show ids --json"; do
	# shellcheck disable=SC2086 # they are words
	check "show without ids: $args" says "[]" "$cmx" $args
done

check "report takes no argument" status_is 2 "$cmx" report x
report_has() { # COMMAND...: a report has all parts, and what each command prints
	local part text
	text=$("$@" report) || return
	for part in "kernel and distribution" "RDMA devices" "cmx version" "cmx default" "cmx rule" "cmx stats" "cmx show -d" \
		"cmx show mcast" "cmx show paths" "cmx show stats" /etc/rdma/rdma_cmx.conf "messages of the kernel that name rdma_cmx"; do
		grep -qFx "== $part" <<<"$text" || { echo "no part $part"; return 1; }
	done
	[[ $text = *"$("$@" default)"* && $text = *"$("$@" version)"* && $text = *"$(uname -r)"* ]]
}
check "report has all parts" report_has "$cmx"
check "report has what another user can read" report_has as_nobody "$cmx"
check "report tells what another user cannot read" eval \
	'[ "$(as_nobody "$cmx" report | grep -c "^cmx: /sys/kernel/debug/rdma_cmx: Permission denied")" = 3 ]'
echo "rdma_cmx: a line for the report" >/dev/kmsg
check "report has messages of the kernel" eval '"$cmx" report | grep -q "^\[.*\] rdma_cmx: a line for the report"'

# words_in_SHELL WORD...: what the last word may be
words_in_bash() {
	bash -c '. "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _cmx && printf "%s\n" "${COMPREPLY[@]}"' \
		"$top/tools/cmx.bash" "$@"
}
words_in_zsh() {
	zsh -fc 'compadd() { shift; print -rl -- ${(M)@:#${words[CURRENT]}*}; }
		words=("$@") CURRENT=$# && . "$0"' "$top/tools/cmx.zsh" "$@"
}
words_in_fish() { fish --no-config -c 'source $argv[1]; complete -C "$argv[2..-1]"' "$top/tools/cmx.fish" "$@"; }
completes() { # SHELL WANT WORD...: the last word is being completed
	local want=$2 got
	got=$("words_in_$1" "${@:3}" | sort | xargs)
	[ "$got" = "$want" ] || { echo "$got"; return 1; }
}
PATH=$top/tools:$PATH
for shell in bash zsh fish; do
	command -v $shell >/dev/null || { skip "completion in $shell" "it is not installed"; continue; }
	check "completion in $shell: commands" completes $shell "show" cmx sh
	check "completion in $shell: filters" completes $shell "src-addr src-port" cmx show ids src
	check "completion in $shell: objects of show" completes $shell "paths pid port" cmx -j show p
	check "completion in $shell: states" completes $shell "established" cmx show -j ids state es
	check "completion in $shell: options" completes $shell "-d -j -p" cmx show -
	check "completion in $shell: parameters" completes $shell "tos" cmx default to
	check "completion in $shell: settings of a port" completes $shell "mode" cmx default rxe0/1 tos 8 m
	check "completion in $shell: modes" completes $shell "v1 v2" cmx default rxe0/1 mode v
	check "completion in $shell: commands of rule" completes $shell "delete" cmx rule d
	check "completion in $shell: conditions of a rule" completes $shell "dev dport dst" cmx rule add first dev rxe0 force d
	check "completion in $shell: port spaces of a rule" completes $shell "ib ipoib" cmx rule add ps i
	check "completion in $shell: options of a rule" completes $shell "path_mtu pkey" cmx rule add dport 1 set tos 1 p
done
check_not "import without the module's ports sets nothing" eval '"$cmx" default -i | grep .'

# Ids on a software device. hold has ids in every state, and its connections have the QP numbers from 0x1235 on.
show_suite() {
	# two of the ids of hold are still unknown to the module
	local tmp pid other name details names window all=14 tracing=/sys/kernel/tracing
	tmp=$(mktemp -d)
	chmod 755 "$tmp"
	rig || return
	mkfifo "$tmp/in"
	env LD_LIBRARY_PATH="$cmx_lib" "$tests/stress/hold" -n 3 -g 2 <"$tmp/in" >"$tmp/out" 2>&1 &
	pid=$!
	exec 8>"$tmp/in"
	check "show: a process has ids in every state" within 60 grep -q "^ready $((all + 2))" "$tmp/out"

	json() { "$cmx" show ids -j "$@"; }
	field() { # NAME [FILTER...]: its values, in order
		json "${@:2}" | python3 -c 'import json, sys
for id in json.load(sys.stdin): print(id.get(sys.argv[1]))' "$1" | sort
	}
	count_is() { # NUMBER [FILTER...]
		local got
		got=$(field handle "${@:2}" | wc -l)
		[ "$got" = "$1" ] || { echo "$got"; "$cmx" show ids; return 1; }
	}
	column() { # NUMBER [ARG...]: of the table
		"$cmx" show ids "${@:2}" | awk -v n="$1" 'NR > 1 { print $n }' | sort
	}
	states() { # the number of ids in each state, of debugfs, which counts established ids as connect
		sed -n '/ 0$/!s/^state-//p' /sys/kernel/debug/rdma_cmx/stats | sort
	}
	check "show: the handles" says "$(field handle)" column 1
	check "show: the states" says "$(states)" \
		eval 'column 4 | sed s/established/connect/ | sort | uniq -c | awk "{ print \$2, \$1 }"'
	check "show: states in JSON" says "$(column 4)" field state
	for name in established connecting listening; do
		check "stats: the gauge of ids that are $name" says "$(column 4 | case $name in
			established) grep -c "^established$";;
			connecting) grep -c "^connect$";;
			listening) grep -c "^listen$";;
			esac)" eval '"$cmx" stats | awk "\$2 ~ /^now_(unattached_)?'$name'\$/ { n += \$3 } END { print n + 0 }"'
	done
	check "show: pretty JSON is the same" eval \
		'[ "$(json | sed "s/\"age\":[0-9]*//g")" = "$("$cmx" show -p | sed "s/\"age\": [0-9]*//; s/^ *//; s/\": /\":/" | tr -d "\n")" ]'
	check "show: JSON is as the schema says" valid show show -j
	check "show: JSON with details is as the schema says" valid show show -dp
	for name in mcast paths stats; do
		check "show $name: JSON is as the schema says" valid "show-$name" show -j "$name"
	done
	check "show mcast: JSON has the groups" says "$("$cmx" show mcast | awk 'NR > 1 { print $1, $2, $3 }')" \
		eval '"$cmx" --json show mcast | python3 -c "import json, sys
for g in json.load(sys.stdin): print(g[\"netdev\"], g[\"group\"], g[\"users\"])"'
	check "show stats: JSON has the sums" eval '"$cmx" show stats --json | grep -q "\"state-listen\":2,"'
	check "show: filter pid" count_is $all pid $pid
	check "show: filter pid, of no process" count_is 0 pid 1
	check "show: a decimal number may begin with 0" count_is $all pid 0$pid
	check "show: filter state" says "listen listen" eval 'echo $(field state state listen)'
	check "show: filter established" count_is 2 state established
	check "show: filter dst-port" says "$(column 7 | grep -c :7400)" eval 'field dst-port dst-port 7400 | wc -l'
	check "show: filter src-addr and src-port" count_is 1 src-addr 10.77.0.1 src-port 7401
	check "show: filter dst-addr" count_is 0 dst-addr fd77::1
	check "show: filter dev" says "$(column 8 | grep -c rxe0)" eval 'field dev dev rxe0 | wc -l'
	check "show: filter dev and port" count_is 0 dev rxe0/2
	check "show: filter dev, of no such device" says "cmx: nosuch: no such device status 1" \
		eval 'echo $("$cmx" show dev nosuch 2>&1 || echo status $?)'
	check "show: filter lqpn" count_is 1 lqpn 0x123e
	check "show: decimal QP numbers" eval '"$cmx" show ids lqpn 0x123e | grep -qw 4670'
	check "show: names of transports and port spaces" eval '"$cmx" show ids lqpn 4670 | grep -q " RoCE v2  *TCP "'
	check "show: age with its unit" eval '"$cmx" show ids lqpn 4670 | grep -Eq " ([0-9]+m)?[0-9]+s "'
	on_terminal() { # COLUMNS COMMAND...
		python3 -c 'import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
	fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
	os.execvp(sys.argv[2], sys.argv[2:])
try:
	while got := os.read(fd, 4096): os.write(1, got.replace(b"\r", b""))
except OSError: pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$@"
	}
	for details in "" -d; do
		check "show${details:+ $details}: 80 columns are enough" eval \
			'on_terminal 80 "$cmx" show $details | awk "length > 80 { bad = 1; print } END { exit bad || NR < 2 * '$all' }"'
		check "show${details:+ $details}: 80 columns have the same values" says \
			"$("$cmx" show $details | tail -n +2 | tr -s ' ' '\n' | sed -E '/^[0-9]+m?[0-9]*s$/d; /^-?$/d' | sort)" \
			eval 'on_terminal 80 "$cmx" show $details | tail -n +2 | tr -s " " "\n" |
				sed -E "s/^(handle|src|dst|transport|ps)=//; /^[0-9]+m?[0-9]*s\$/d; /^-?\$/d" | sort'
	done
	check "show: a wide terminal has the table" says "$("$cmx" show | head -1)" eval 'on_terminal 500 "$cmx" show | head -1'
	check "show: groups" says 2 eval 'field groups | sort -n | tail -n 1'
	names=$(field trace-id -d | sort -u)
	check "show: each id has its name in traces" [ "$(wc -l <<<"$names")" = $all ]
	check "show: no name of traces" eval '! "$cmx" show -p | grep trace-id && ! "$cmx" show | grep -F "$names"'
	check "show: the name of traces, with details" eval '"$cmx" show -d | grep -cF "$names" | grep -qx '$all
	check "show: options in effect" eval '"$cmx" default tos 8 && "$cmx" show -d ids lqpn 4670 | grep -qF "[TOS=8]"'
	"$cmx" default tos 0
	check "show: nothing for another user" says "[]" as_nobody "$cmx" show -j

	setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$cmx_lib" rping -s -p 7500 >/dev/null 2>&1 &
	other=$!
	check "show: another user sees his own" within 20 eval \
		'as_nobody "$cmx" show -j ids | grep -q "\"src-port\":7500"'
	check "show: another user sees no other ids" eval '[ "$(as_nobody "$cmx" show ids | wc -l)" = 2 ]'
	check "show: another user sees no trace ids" eval '! as_nobody "$cmx" show -dp | grep trace-id'
	check "show: root sees the ids of another user" count_is 1 pid $other
	kill $other
	wait $other 2>/dev/null

	ip netns add h1
	ip netns exec h1 env LD_LIBRARY_PATH="$cmx_lib" "$tests/stress/hold" -w -p 7600 <"$tmp/in" >"$tmp/wild" 2>&1 &
	other=$!
	check "show: a process has ids in a namespace" within 60 grep -q "^ready 4" "$tmp/wild"
	check "show: a namespace has its own ids" eval '[ "$(ip netns exec h1 "$cmx" show ids | wc -l)" = 3 ]'
	check "show: the host sees the ids of all namespaces" count_is $((all + 2))
	check "show: filter netns" count_is 2 netns "$(stat -L -c %i /run/netns/h1)"
	check "show: filter netns and port" count_is 0 netns "$(stat -L -c %i /proc/self/ns/net)" src-port 7600
	kill $other
	wait $other 2>/dev/null
	ip netns del h1

	echo 1 >$tracing/events/rdma_cmx/cmx_state/enable
	kill $pid
	exec 8>&-
	wait $pid 2>/dev/null
	check "show: traces have the same names" within 5 says "$names" eval 'grep -oF "$names" $tracing/trace | sort -u'
	echo 0 >$tracing/events/rdma_cmx/cmx_state/enable

	# the name of a process has 15 bytes, which may end within a letter
	names_is() { # TEXT NAME: the field comm of a process with that name
		local prog pid
		prog=$tmp/$2
		cp "$(command -v rping)" "$prog"
		env LD_LIBRARY_PATH="$cmx_lib" "$prog" -s -p 7501 >/dev/null 2>&1 &
		pid=$!
		within 20 eval '[ "$(field src-port src-port 7501)" = 7501 ]' && says "$1" field comm src-port 7501
		set -- $?
		kill $pid
		wait $pid 2>/dev/null
		return "$1"
	}
	check "show: a name in UTF-8, in JSON" names_is "größe-漢字" "größe-漢字"
	check "show: a name that ends within a letter" names_is $'abcdefghijklmn\xef\xbf\xbd' "abcdefghijklmnö"

	# ids are ended as their programs know it
	killed() { # FILTER...: the state that each id had
		"$cmx" kill "$@" | awk 'NR > 1 { print $4 }'
	}
	env LD_LIBRARY_PATH="$cmx_lib" rping -s -a 10.77.0.1 -p 7700 >"$tmp/server" 2>&1 &
	pid=$!
	within 20 eval '[ "$(field state src-port 7700)" = listen ]'
	env LD_LIBRARY_PATH="$cmx_lib" rping -c -a 10.77.0.1 -p 7700 -C 1000000 >"$tmp/client" 2>&1 &
	other=$!
	within 20 eval '[ "$(field state dst-port 7700)" = established ]'
	check_not "kill: another user ends no id of root" as_nobody "$cmx" kill dst-port 7700
	check "kill: a filter that matches nothing" says "cmx: no such id status 1" \
		eval 'echo $("$cmx" kill dst-port 7799 2>&1 || echo status $?)'
	check "kill: lists the connection" says established killed dst-port 7700
	# rping itself does not always end then, on either stack: it waits for its thread of the CQ
	check "kill: the client gets DISCONNECTED" within 20 grep -q "^client DISCONNECT EVENT" "$tmp/client"
	check "kill: the server gets DISCONNECTED, as its peer has" within 20 grep -q "^server DISCONNECT EVENT" "$tmp/server"
	kill $pid $other 2>/dev/null
	wait $pid $other 2>/dev/null
	env LD_LIBRARY_PATH="$cmx_lib" rping -s -a 10.77.0.1 -p 7700 >"$tmp/server" 2>&1 &
	pid=$!
	within 20 eval '[ "$(field state src-port 7700)" = listen ]'
	check "kill: lists the listener" says listen killed handle "$(field handle src-port 7700)" state listen
	check "kill: the server gets DEVICE_REMOVAL" within 20 grep -q "device removal" "$tmp/server"
	kill $pid $other 2>/dev/null
	wait

	# a window for one request, and a peer that never replies
	ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud permanent
	window=$(<$params/max_user_requests)
	echo 1 >$params/max_user_requests
	request_send() { # the program
		setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$cmx_lib" \
			rping -c -a 10.77.0.99 -p 7800 >/dev/null 2>&1 &
		echo $!
	}
	pid=$(request_send)
	other=$(request_send)
	check "show: a request waits for the send window" within 20 eval \
		'[ "$(echo $(field waiting dst-port 7800 state connect))" = "False True" ]'
	check "show: the table marks a request that waits" eval \
		'[ "$("$cmx" show dst-port 7800 | grep -c " waiting$")" = 1 ]'
	kill $pid $other
	echo "$window" >$params/max_user_requests

	# the QP numbers of ib_core
	env LD_LIBRARY_PATH="$cmx_lib" rping -s -a 10.77.0.1 -p 7700 >/dev/null 2>&1 &
	pid=$!
	within 20 eval '[ "$(field state src-port 7700)" = listen ]'
	env LD_LIBRARY_PATH="$cmx_lib" rping -c -a 10.77.0.1 -p 7700 -C 1000000 >/dev/null 2>&1 &
	other=$!
	check "show: a connection is established" within 20 eval '[ "$(field state dst-port 7700)" = established ]'
	check "show: the QP numbers of rdma(8)" eval \
		'[ "$(rdma -j res show qp link rxe0 pid $other | grep -o "lqpn\":[0-9]*" | cut -d: -f2)" = \
		   "$(field lqpn dst-port 7700)" ]'
	kill $other $pid
	wait
	rm -r "$tmp"
}
# The defaults of a RoCE port, which are rules. rxe has RoCE v2 only.
port_suite() {
	local theirs=/sys/kernel/config/rdma_cm/rxe0 tmp
	tmp=$(mktemp -d)
	rig || return

	# the flow label follows from the ports, which are not the same in each run
	connection() { # STACK
		"$1" "$tests/stock/compare" option.tos_unset | sed 's/ flow=[^ ]*//'
	}
	check "completion: ports with defaults" eval '"$cmx" complete default "" | grep -qx rxe0/1'
	check "completion: devices and ports with counters" says "rxe0 rxe0/1" eval 'echo $("$cmx" complete stats "")'
	check "default shows a port" says "rxe0/1 tos none mode none" "$cmx" default rxe0/1
	check "default without arguments shows the ports" eval '"$cmx" default | grep -qx "rxe0/1 tos none mode none"'
	check "default sets TOS and mode of a port" says "rxe0/1 tos 40 mode v2" eval \
		'"$cmx" default rxe0/1 tos 40 mode v2 && "$cmx" default rxe0/1'
	check "default sets a rule of the port" says "1: dev rxe0/1 set tos 40 gid_type 2" "$cmx" rule
	check "default replaces the rule of the port" says "$(printf '%s\n' "1: dev rxe0/2 set tos 1" "2: dev rxe0/1 set tos 8 gid_type 2")" \
		eval '"$cmx" rule add dev rxe0/2 set tos 1 && "$cmx" default rxe0/1 tos 8 && "$cmx" rule'
	check "default joins the rules of the port" says "$(printf '%s\n' "1: dev rxe0/1 force set tos 2" "2: dev rxe0/1 set tos 8 gid_type 1" \
		"3: dev rxe0/1 set sl 1" "4: dev rxe0/2 set tos 1")" eval 'printf "%s\n" "dev rxe0/1 force set tos 2" "dev rxe0/1 set tos 8" \
		"dev rxe0/1 set sl 1" "dev rxe0/2 set tos 1" "dev rxe0/1 set tos 9 gid_type 2" | "$cmx" rule load - &&
		"$cmx" default rxe0/1 mode v1 && "$cmx" rule'
	check "default none removes the rule of the port" says "$(printf '%s\n' "1: dev rxe0/1 force set tos 2" "2: dev rxe0/1 set sl 1" \
		"3: dev rxe0/2 set tos 1")" eval '"$cmx" default rxe0/1 tos none mode none && "$cmx" rule'
	"$cmx" rule delete all
	"$cmx" default rxe0/1 tos 40 mode v2
	check "another user reads the defaults of a port" says "rxe0/1 tos 40 mode v2" as_nobody "$cmx" default rxe0/1
	check "another user cannot set the defaults of a port" status_is 1 as_nobody "$cmx" default rxe0/1 tos 8
	check "root without CAP_NET_ADMIN cannot set the defaults of a port" status_is 1 \
		setpriv --bounding-set=-net_admin "$cmx" default rxe0/1 tos 8
	check "default of a port: a setting that does not exist" status_is 2 "$cmx" default rxe0/1 ttl 1
	check "default of a port: a mode that does not exist" status_is 2 "$cmx" default rxe0/1 tos 1 mode v3
	check "default of a port: no value" status_is 2 "$cmx" default rxe0/1 tos
	check "default of a port: a port that does not exist" says "cmx: rxe0/2: no RoCE port of rdma_cmx status 1" \
		eval 'echo $("$cmx" default rxe0/2 2>&1 || echo status $?)'
	check "a port keeps its defaults after wrong arguments" says "rxe0/1 tos 40 mode v2" "$cmx" default rxe0/1
	check "default of a port: JSON is as the schema says" valid default default -j
	check "default of a port: JSON" says '{"parameters":{},"ports":[{"dev":"rxe0","port":1,"tos":40,"mode":"v2"}]}' \
		"$cmx" default -j rxe0/1
	check "default --save: a port that is not as the module sets it" eval \
		'"$cmx" default --save "$tmp/conf" && grep -qx "rxe0/1 tos 40 mode v2" "$tmp/conf"'
	check "default of a port: the word none resets the TOS" says "rxe0/1 tos none mode v2" eval \
		'"$cmx" default rxe0/1 tos none && "$cmx" default rxe0/1'
	check "default --load: the last line of a port counts" says "rxe0/1 tos 3 mode v2" eval \
		'printf "%s\n" "*/* tos 1" "rx*/1 tos 2 mode v2" "rxe0/1 tos 3" "rxe0/2 tos 4" >"$tmp/conf" &&
		 "$cmx" default --load "$tmp/conf" && "$cmx" default rxe0/1'
	check "default --save: the line of a port follows it, and patterns stay" says \
		"*/* tos 1 rx*/1 tos 2 mode v2 rxe0/1 tos 9 mode v2 rxe0/2 tos 4" eval \
		'"$cmx" default rxe0/1 tos 9 && "$cmx" default --save "$tmp/conf" && (set -f; echo $(grep / "$tmp/conf"))'
	check "default --save: a port as its pattern has no line" says "*/* tos 9" eval \
		'echo "*/* tos 9" >"$tmp/conf" && "$cmx" default --save "$tmp/conf" && (set -f; echo $(grep / "$tmp/conf"))'
	check "default --load: of a device only its ports" says "rxe0/1 tos 5 mode v2 0 rxe0/1 tos 9 mode v2" eval \
		'printf "%s\n" "connect_deadline_ms 9" "rxe0/1 tos 5" >"$tmp/conf" &&
		 echo $("$cmx" default --load "$tmp/conf" rxe0 && "$cmx" default rxe0/1 && cat $params/connect_deadline_ms &&
			"$cmx" default rxe0/1 tos 9 && "$cmx" default --load "$tmp/conf" rxe1 && "$cmx" default rxe0/1)'
	"$cmx" default rxe0/1 tos none mode none

	# the same default on both stacks
	check "import: no defaults of rdma_cm" says "" "$cmx" default -i
	modprobe configfs
	mountpoint -q /sys/kernel/config || mount -t configfs c /sys/kernel/config
	check "import: rdma_cm has defaults of ports" mkdir $theirs
	echo 96 >$theirs/ports/1/default_roce_tos
	connection stock >"$tmp/stock"
	connection ours >"$tmp/ours"
	check_not "import: defaults of rdma_cm have no effect before" diff "$tmp/stock" "$tmp/ours"
	check "import: the defaults of rdma_cm are set" says "rxe0/1 tos 96 mode v2" "$cmx" default -i
	connection ours >"$tmp/ours"
	check "import: the default TOS has the same effect as in rdma_cm" diff "$tmp/stock" "$tmp/ours"
	check "import: the default TOS is in the path and in both QPs" says 4 grep -c "tclass=0x60" "$tmp/ours"
	echo 0 >$theirs/ports/1/default_roce_tos
	check "import: a removed default of rdma_cm is reset" says "rxe0/1 tos none mode v2" "$cmx" default -i
	rmdir $theirs

	# the connections have left counters, so that all these commands print something
	for command in "stats -m" "stats -j" stats "show stats" "show mcast" "show paths" show "show -j" \
		       "show -j stats" options "options -j" "version -j" default rule "rule -j" -V -h; do
		check "$command: reports a full output" \
			says "cmx: standard output: No space left on device status 1" \
			eval 'echo $("$cmx" $command 2>&1 >/dev/full || echo status $?)'
	done
	rm -r "$tmp"
}
on_hardware || ! may_match "show: " || show_suite
on_hardware || port_suite
check "the module unloads" unload_cmx
finish
