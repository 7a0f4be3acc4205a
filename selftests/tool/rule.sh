#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rule: cmx rule, the rules that set options of programs, and the rules in the file of cmx default
# kernels: release uml
# check: uml
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/tool/guest.sh"
tmp=$(mktemp -d)
chmod 755 "$tmp"
file=$tmp/rules
params=/sys/module/rdma_cmx/parameters
rig || { not_ok rig; finish; }
load_cmx || exit

rules() { # RULE...: all rules, in this order
	local want rule i=0
	for rule; do
		want+="$((++i)): $rule"$'\n'
	done
	says "${want%$'\n'}" "$cmx" rule
}
add() { # RULE: with the words of one text
	# shellcheck disable=SC2086 # they are words
	"$cmx" rule add $1
}
alone() { # RULE [WANT]: it is printed as it was written, and can be read back
	"$cmx" rule delete all && add "$1" && rules "${2:-$1}" && "$cmx" rule >"$file" && "$cmx" rule load "$file" &&
		rules "${2:-$1}"
}

check "list: there are no rules" says "" "$cmx" rule list
check "list: JSON without rules" says "[]" "$cmx" rule list -j
while read -r rule; do
	check "add: $rule" alone "$rule"
done <<-END
	set tos 106
	dst 10.0.0.0/8 dport 4420 set tos 106 min_rnr_timer 12
	dst 10.1.2.3 set sl 3
	dst 0.0.0.0/0 set sl 3
	dst fd77::/64 src fd77::1 set flow_label 1048575
	src ::/0 set sl 3
	src ::/90 set sl 3
	dport 4420-4430 set tos 0
	dport 65535 set hop_limit 255
	dev rxe0 set gid_type 2
	dev rxe0/1 set gid_type 2 tos 5
	dev /1 set path_mtu 5
	ps tcp set ece_policy 2
	ps udp set mcast_rejoin 1 mcast_loopback 0
	ps ib set pkey 65535
	ps ipoib set sl 1
	uid 1000 set connect_deadline_ms 2147483647
	uid 0 force set cm_retries 0
	ulp nvme_rdma set ack_timeout 20
	cgroup 4660 set resolve_retries 15
	dst 10.0.0.0/8 src 10.1.0.0/16 dport 1-2 dev mlx5_0/2 ps tcp uid 7 cgroup 99 ulp rnbd_client force set tos 1 sl 2 cm_retries 3
	set tos 1 ack_timeout 2 min_rnr_timer 3 cm_retries 4 cm_response_timeout 5 connect_deadline_ms 6 sl 7 flow_label 8
END
while IFS='|' read -r rule want; do
	check "add: another form: $rule" alone "$rule" "$want"
done <<-END
	force src 10.77.0.1/32 set TOS 0x6a|src 10.77.0.1 force set tos 106
	dport 7-7 dst ::ffff:10.0.0.0/104 set SL 3|dst 10.0.0.0/8 dport 7 set sl 3
	dst FD77:0::/64 set sl 0003|dst fd77::/64 set sl 3
	uid nobody ps UDP set sl 3|ps udp uid $(id -u nobody) set sl 3
	ulp nvme-rdma set sl 3|ulp nvme_rdma set sl 3
END

"$cmx" rule delete all
check "add: a rule comes after the others" eval 'add "dport 1 set tos 1" && add "dport 2 set tos 2"'
check "add: first" eval 'add "first dport 3 set tos 3"'
check "add: order" rules "dport 3 set tos 3" "dport 1 set tos 1" "dport 2 set tos 2"
check "delete: a number" eval '"$cmx" rule delete 2 && rules "dport 3 set tos 3" "dport 2 set tos 2"'
check "delete: no such rule" says "cmx: 3: no such rule status 1" eval 'echo $("$cmx" rule delete 3 2>&1 || echo status $?)'
for word in 0 -1 x ""; do
	check "delete: no number: '$word'" status_is 2 "$cmx" rule delete "$word"
done
check "list: JSON is as the schema says" valid rule rule -j
"$cmx" rule load - <<-END
	dst 10.0.0.0/8 src fd77::/64 dport 4420-4430 dev rxe0/1 ps ipoib uid 7 cgroup 99 ulp isert force set tos 1 sl 2
END
check "list: JSON of all conditions is as the schema says" valid rule rule -p
check "list: JSON of all conditions" says "$(echo '[{"number":1,"dst-prefix":"10.0.0.0/8","src-prefix":"fd77::/64",' \
	'"dport-min":4420,"dport-max":4430,"dev":"rxe0","port":1,"ps":"IPOIB","uid":7,"cgroup-id":99,"ulp":"isert","force":true,' \
	'"options":{"TOS":{"value":1},"SL":{"value":2}}}]' | tr -d ' ')" "$cmx" rule -j

# wrong words, of a command and of a file
cat >"$tmp/wrong" <<-END
	tos|tos 1|no such condition
	set|dport 1|missing
	set|dport 1 set|no option follows
	force|force force set tos 1|given twice
	dst|dst|no value
	dst|dst 10.0.0.1 dst 10.0.0.2 set tos 1|given twice
	10.0.0|dst 10.0.0 set tos 1|not an address
	host|src host set tos 1|not an address
	10.0.0.1/8|dst 10.0.0.1/8 set tos 1|invalid prefix: it has bits beyond its length
	fd77::1/64|src fd77::1/64 set tos 1|invalid prefix: it has bits beyond its length
	10.0.0.0/33|dst 10.0.0.0/33 set tos 1|invalid length of a prefix
	::/129|dst ::/129 set tos 1|invalid length of a prefix
	10.0.0.0/|dst 10.0.0.0/ set tos 1|invalid length of a prefix
	65536|dport 65536 set tos 1|not a port or a range of ports
	9-8|dport 9-8 set tos 1|not a port or a range of ports
	1-|dport 1- set tos 1|not a port or a range of ports
	rxe0/0|dev rxe0/0 set tos 1|not a device and a port
	rxe0/x|dev rxe0/x set tos 1|not a device and a port
	sctp|ps sctp set tos 1|not one of tcp, udp, ib, ipoib
	no-such-user|uid no-such-user set tos 1|no such user
	4294967295|uid 4294967295 set tos 1|no such user
	slice|cgroup slice set tos 1|not the path of a cgroup
	/no/such|cgroup /no/such set tos 1|no such cgroup
	ttl|set ttl 1|no such option
	tos|set tos|no value
	tos|set tos 1 tos 2|set twice
	256|set tos 256|not in 0..255
	0x100|set tos 0x100|not in 0..255
	1x|set tos 1x|not in 0..255
	0|set hop_limit 0|not in 1..255
	2|set mcast_rejoin 2|not in 0..1
	ib_path|set ib_path 1|an option that a rule cannot set
	reuseaddr|set reuseaddr 1|an option that a rule cannot set
	afonly|set afonly 1|an option that a rule cannot set
	bind_device|set bind_device 1|an option that a rule cannot set
	pkey|set tos 1 ack_timeout 2 min_rnr_timer 3 cm_retries 4 hop_limit 5 connect_deadline_ms 6 sl 7 flow_label 8 pkey 9|one option too many: a rule sets at most 8
END
"$cmx" rule delete all
add "dport 1 set tos 1"
while IFS='|' read -r word rule why; do
	# shellcheck disable=SC2086 # they are words
	check "add: a wrong word: $rule" says "cmx: $word: $why" eval '"$cmx" rule add $rule 2>&1 | head -n 1'
	check "load: a wrong word: $rule" says "cmx: $file:2: $word: $why status 1" \
		eval 'printf "%s\n" "set tos 2" "$rule" >"$file"; echo $("$cmx" rule load "$file" 2>&1 || echo status $?)'
	check "default --check: a wrong word: $rule" says "cmx: $file:2: $word: $why status 1" \
		eval 'printf "%s\n" "rule set tos 2" "rule $rule" >"$file"; echo $("$cmx" default --check "$file" 2>&1 || echo status $?)'
done <"$tmp/wrong"
check "add: a name that is too long" says "cmx: $(printf '%064d' 0): not the name of a device" \
	eval '"$cmx" rule add dev $(printf "%064d" 0) set tos 1 2>&1 | head -n 1'
check "load: all wrong lines are named" says "1 3" eval 'printf "%s\n" "set tos 256" "set tos 2" "set tos" >"$file"
	echo $("$cmx" rule load "$file" 2>&1 | cut -d: -f3)'
check "load: a file that does not exist" status_is 1 "$cmx" rule load "$tmp/no"
check "rules stay after wrong words" rules "dport 1 set tos 1"
while read -r word args; do
	# shellcheck disable=SC2086 # they are words
	check "a usage error names the wrong word: cmx rule $args" eval '[[ $("$cmx" rule $args 2>&1 >/dev/null | head -n 1) = "cmx: $word: "* ]]'
done <<-END
	show show
	x list x
	delete delete
	2 delete 1 2
	load load
	b load a b
	-j add -j set tos 1
	-j delete -j 1
	-x list -x
END

check "load: comments, empty lines and numbers" eval \
	'printf "%s\n" "# all" "" "7: dport 7 set tos 7 # one" "	dport 8  set tos 8" >"$file" && "$cmx" rule load "$file" &&
	 rules "dport 7 set tos 7" "dport 8 set tos 8"'
check "load: standard input" eval 'echo "dport 9 set tos 9" | "$cmx" rule load - && rules "dport 9 set tos 9"'
check "load: the list itself" eval '"$cmx" rule | "$cmx" rule load - && rules "dport 9 set tos 9"'
check "load: an empty file deletes all rules" eval '"$cmx" rule load /dev/null && rules'
check "load: as many rules as there can be" eval 'seq -f "dport %.0f set tos 1" 128 | "$cmx" rule load - && [ "$("$cmx" rule | wc -l)" = 128 ]'
check "add: one rule too many" says "cmx: rules: more than 128 status 1" eval 'echo $(add "set tos 1" 2>&1 || echo status $?)'
check "load: one rule too many" eval '! seq -f "dport %.0f set tos 2" 129 | "$cmx" rule load - && ! "$cmx" rule | grep "tos 2"'
check "delete: all" eval '"$cmx" rule delete all && rules'
at_once() { # several commands
	local i
	for i in {1..12}; do
		"$cmx" rule add dport "$i" set tos 1 &
	done
	wait
	says "$(seq 12)" eval '"$cmx" rule | awk "{ print \$3 }" | sort -n'
}
check "add: of commands at once each has its rule" at_once

"$cmx" rule load - <<<"dport 1 set tos 1"
refused="cmx: rules: Operation not permitted: CAP_NET_ADMIN is needed in the network namespace"
check "another user may list the rules" says "1: dport 1 set tos 1" as_nobody "$cmx" rule
check "another user may add no rule" eval '[[ $(as_nobody "$cmx" rule add set tos 2 2>&1) = "$refused"* ]]'
check "another user may delete no rule" status_is 1 as_nobody "$cmx" rule delete all
check "root without CAP_NET_ADMIN may add no rule" eval \
	'[[ $(setpriv --bounding-set=-net_admin "$cmx" rule add set tos 2 2>&1) = "$refused"* ]]'
ip netns add h1
check "a namespace does not show the rules of the host" says "" ip netns exec h1 "$cmx" rule
check "a namespace has rules of its own" says "1: set tos 2" eval 'ip netns exec h1 "$cmx" rule add set tos 2 && ip netns exec h1 "$cmx" rule'
check "a namespace does not delete the rules of the host" eval 'ip netns exec h1 "$cmx" rule delete all && rules "dport 1 set tos 1"'
container() { setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Urn "$@"; }
if container true; then
	check "a container sets rules" says "1: uid 0 set tos 2" container sh -c "'$cmx' rule add uid 0 set tos 2 && '$cmx' rule"
	check "a container does not have other users" eval \
		'[[ $(container "$cmx" rule add uid 7 set tos 2 2>&1) = "cmx: rules: the module refuses "* ]]'
	check "a container waits no longer than the host allows" eval \
		'[[ $(container "$cmx" rule add set cm_response_timeout 31 2>&1) = "$refused"* ]]'
else
	skip "a container sets rules" "no user namespaces"
	skip "a container does not have other users" "no user namespaces"
	skip "a container waits no longer than the host allows" "no user namespaces"
fi
check "the rules of the host are as before" rules "dport 1 set tos 1"
ip netns del h1

groups=/sys/fs/cgroup
mountpoint -q $groups || mount -t cgroup2 cgroup $groups
if grep -qw memory $groups/cgroup.controllers; then
	echo +memory >$groups/cgroup.subtree_control
	mkdir $groups/jobs $groups/jobs/one
	check "cgroup: a path" alone "cgroup /jobs set tos 1"
	check "cgroup: the root" alone "cgroup / set tos 1"
	check "cgroup: the path of the folder" alone "cgroup $groups/jobs set tos 1" "cgroup /jobs set tos 1"
	check "cgroup: a number" alone "cgroup $(stat -c %i $groups/jobs) set tos 1" "cgroup /jobs set tos 1"
	check "cgroup: JSON has both" eval '"$cmx" rule -j | grep -q "\"cgroup-id\":$(stat -c %i $groups/jobs),\"cgroup\":\"/jobs\"" &&
		valid rule rule -j'
	check "cgroup: no memory controller" says "cmx: /jobs/one: its memory controller is not enabled" \
		eval 'add "cgroup /jobs/one set tos 1" 2>&1 | head -n 1'
	check "cgroup: not of version 2" says "cmx: /../../kernel: not a folder of cgroup v2" \
		eval 'add "cgroup /../../kernel set tos 1" 2>&1 | head -n 1'
	check "cgroup: a folder that was removed is a number" eval \
		'id=$(stat -c %i $groups/jobs); rmdir $groups/jobs/one $groups/jobs; rules "cgroup $id set tos 1"'
else
	for name in "a path" "the root" "the path of the folder" "a number" "JSON has both" "no memory controller" \
		    "not of version 2" "a folder that was removed is a number"; do
		skip "cgroup: $name" "no memory controller"
	done
fi

# rules in the file of cmx default
conf=$tmp/conf
"$cmx" rule delete all
cat >$conf <<-END
	# our jobs
	rule dport 1 set tos 1	# the first
	cm_retries 7
	rule dport 2 set tos 2
	rxe0/1 tos 5
END
check "default --check: right rules" says "" "$cmx" default --check $conf
check "default --load: rules come before the defaults of ports" eval \
	'"$cmx" default --load $conf && rules "dport 1 set tos 1" "dport 2 set tos 2" "dev rxe0/1 set tos 5"'
check "default --load: a second time changes nothing" eval \
	'"$cmx" default --load $conf && rules "dport 1 set tos 1" "dport 2 set tos 2" "dev rxe0/1 set tos 5"'
check "default --save: a file as it was loaded stays" eval 'cp $conf $conf.2 && "$cmx" default --save $conf.2 &&
	diff <(grep -v ^rxe $conf) <(grep -v "^rxe\|^max_user" $conf.2) && grep -qx "rxe0/1 tos 5 mode none" $conf.2'
check "add: a rule comes before the defaults of ports" eval 'add "dport 3 set tos 3" &&
	rules "dport 1 set tos 1" "dport 2 set tos 2" "dport 3 set tos 3" "dev rxe0/1 set tos 5"'
"$cmx" rule delete 1
add "first dport 4 set tos 4"
check "default --save: rules have the lines that they had" says \
	"$(printf '%s\n' "# our jobs" "cm_retries 7" "rule dport 4 set tos 4" "rule dport 2 set tos 2" "rxe0/1 tos 5 mode none" \
		"max_user_requests $(<$params/max_user_requests)" "rule dport 3 set tos 3")" \
	eval '"$cmx" default --save $conf && cat $conf'
check "default --save: the saved file has the same rules" eval '"$cmx" rule >$file && "$cmx" rule delete all && "$cmx" default --load $conf &&
	diff $file <("$cmx" rule)'
check "default --load: a file without rules keeps those that there are" eval 'echo "cm_retries 15" >$conf && "$cmx" default --load $conf &&
	diff $file <("$cmx" rule)'
check "default --load: a wrong rule does not keep others from being set" eval \
	'printf "%s\n" "rule set tos 300" "rule dport 8 set tos 8" >$conf && ! "$cmx" default --load $conf && rules "dport 8 set tos 8" "dev rxe0/1 set tos 5"'
check "default --load: a device changes no other rule" eval \
	'printf "%s\n" "rule dport 9 set tos 9" "rxe0/1 tos 6" >$conf && "$cmx" default --load $conf rxe0 && rules "dport 8 set tos 8" "dev rxe0/1 set tos 6"'
"$cmx" rule load - <<-END
	dev rxe0/1 set tos 5
	dport 1 set tos 1
	dev rxe0/1 set sl 3
	dev gone0/1 set gid_type 1
END
"$cmx" rule >"$file"
check "default --save: the order of the defaults of ports stays" eval 'rm $conf && "$cmx" default --save $conf && "$cmx" default --load $conf &&
	diff $file <("$cmx" rule)'

# what a program has
program() { # PORT [TOS]: an id that is bound
	env LD_LIBRARY_PATH="$cmx_lib" python3 -c 'import ctypes, socket, struct, sys
lib = ctypes.CDLL("librdmacm.so.1")
lib.rdma_create_event_channel.restype = ctypes.c_void_p
cm_id, tos = ctypes.c_void_p(), ctypes.c_ubyte(int((sys.argv + ["0"])[2]))
lib.rdma_create_id(ctypes.c_void_p(lib.rdma_create_event_channel()), ctypes.byref(cm_id), None, 0x106)
lib.rdma_set_option(cm_id, 0, 0, ctypes.byref(tos), 1)
addr = struct.pack("=H", socket.AF_INET) + struct.pack("!H", int(sys.argv[1])) + socket.inet_aton("10.77.0.1") + bytes(8)
lib.rdma_bind_addr(cm_id, addr)
sys.stdin.read()' "$@" <"$tmp/in" &
}
sources() { # PORT: options that are not defaults
	"$cmx" show -j src-port "$1" | python3 -c 'import json, sys
for id in json.load(sys.stdin):
	for name, o in id["options"].items():
		if o["source"] != "default": print(name, o["value"], o["source"], o["set"])'
}
mkfifo "$tmp/in"
exec 8<>"$tmp/in"
"$cmx" rule load - <<-END
	src 10.77.0.0/24 dev rxe0/1 ps tcp set tos 40 connect_deadline_ms 3000
	ps udp set sl 1
END
program 7900
check "show: a value is from a rule" within 20 says "$(printf '%s\n' "TOS 40 rule False" "CONNECT_DEADLINE_MS 3000 rule False")" sources 7900
check "show: the table marks a rule" eval '"$cmx" show src-port 7900 | grep -qw "TOS=40,rule"'
program 7901 8
check "show: the value of the program counts more" within 20 says "$(printf '%s\n' "TOS 8 program True" "CONNECT_DEADLINE_MS 3000 rule False")" \
	sources 7901
check "show: the table does not mark the value of a program" eval '"$cmx" show src-port 7901 | grep -q "TOS=8 "'
check "show: JSON with sources is as the schema says" valid show show -j
"$cmx" rule load - <<<"force set tos 44"
program 7902 8
check "show: a forced rule counts more" within 20 says "TOS 44 forced rule False" sources 7902
check "show: the table marks a forced rule" eval '"$cmx" show src-port 7902 | grep -qw "TOS=44,force"'
exec 8>&-
# shellcheck disable=SC2046 # they are words
kill $(jobs -p)
wait
"$cmx" rule delete all
rm -r "$tmp"
check "the module unloads" unload_cmx
finish
