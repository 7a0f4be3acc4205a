#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# monitor: cmx monitor and cmx stats, while rping connects or is refused
# kernels: 7 uml
# check: uml
. "$(dirname "$0")/../vm/guest.sh"
cmx=$top/tools/cmx
instances=/sys/kernel/tracing/instances
tmp=$(mktemp -d)
chmod 755 "$tmp"
rig || { not_ok rig; finish; }
load_cmx || exit
[ -e $instances ] || mount -t tracefs tracefs /sys/kernel/tracing

ours() { timeout 20 env LD_LIBRARY_PATH="$cmx_lib" rping "$@" >/dev/null 2>&1; }
listens() { "$cmx" show ids state listen src-port "$1" | grep -q listen; }
stat_is() { # NAME NUMBER: the counter
	"$cmx" stats rxe0/1 | awk -v n="$1" -v want="$2" '
		$2 == n { v = $3 } END { print v + 0; exit v + 0 != want }'
}
unattached() { # COMMAND...: the sum of the counters of ids that are attached to no port
	"$@" | awk '/^(host |rdma_cmx_)unattached/ { n += $NF } END { print n + 0 }'
}
monitors() { # ONES: check that as many monitors have enabled their events
	[ "$(cat $instances/cmx-*/events/rdma_cmx/cmx_mcast/enable | tr -d "\n")" = "$1" ]
}
traced() { # PATTERN: a line of the monitor
	within 5 grep -Eq "^[0-9-]+ [0-9:.]+ $1\$" "$tmp/lines"
}
traced_between() { # BEGIN END PATTERN: a line in JSON has a time between these, in microseconds
	local time
	time=$(sed -nE "s/^\{\"time\":([0-9]+)\.([0-9]{6}),.*$3.*/\1\2/p" "$tmp/json")
	[ "$1" -lt "$time" ] && [ "$time" -lt "$2" ]
}

says_nothing() { # COMMAND...: which succeeds
	local got
	got=$("$@" 2>&1) && [ -z "$got" ] || { echo "$got"; return 1; }
}
check "another user may not monitor" status_is 1 as_nobody "$cmx" monitor
check "monitor: an argument that does not exist" status_is 2 "$cmx" monitor -x
check "stats: an argument that does not exist" status_is 2 "$cmx" stats -x
check "stats: a port that does not exist" status_is 1 "$cmx" stats rxe0/2
check "stats: nothing is printed before the first event" eval '[ -z "$("$cmx" stats)" ]'
check "monitor ends with the reader of its pipe" timeout $((20 * slow)) bash -c "'$cmx' monitor | true"

"$cmx" monitor >"$tmp/lines" 2>"$tmp/errors" &
lines=$!
"$cmx" monitor -j >"$tmp/json" 2>>"$tmp/errors" &
json=$!
check "each monitor has an instance" within 10 monitors 11
ip addr replace 10.77.0.2/24 dev d0
ours -s -a 10.77.0.1 -p 7800 -C 1 &
server=$!
check "a server listens" within 20 listens 7800
ours -c -a 10.77.0.2 -p 7800 -C 1
env LD_LIBRARY_PATH="$cmx_lib" rping -c -a 10.77.0.1 -p 7801 -C 1 >/dev/null 2>&1 &
client=$!
wait $client
ours -c -a 10.77.0.1 -p 7800 -C 1
wait $server

peer='10\.77\.0\.[12]:[0-9]+' rping='pid [0-9]+ comm rping'
check "a REQ to another address is refused" traced \
	"refused +dev rxe0/1 src 10.77.0.2:7800 dst $peer gid [^ ]+ reason no-listener-on-address"
check "the sender of a REQ to another address is rejected" traced "rejected +src $peer dst 10.77.0.2:7800 reason consumer $rping trace-id [^ ]+"
check "a REQ without a listener is rejected" traced "rejected +src $peer dst 10.77.0.1:7801 reason invalid-service-id pid $client comm rping trace-id [^ ]+"
check "a connection is traced" traced "connected +src $peer dst 10.77.0.1:7800 $rping trace-id [^ ]+"
check "a disconnect is traced at the active side" traced "disconnected +src $peer dst 10.77.0.1:7800 $rping trace-id [^ ]+"
check "a disconnect is traced at the passive side" traced "disconnected +src 10.77.0.1:7800 dst $peer( $rping)? trace-id [^ ]+"
check "monitor: JSON has the same events" within 5 eval '[ "$(python3 -c "import json, sys
for line in sys.stdin: print(json.loads(line)[\"event\"])" <"$tmp/json" | sort)" = \
	"$(awk "{ print \$3 }" "$tmp/lines" | sort)" ]'
check "monitor: JSON has the addresses and ports" grep -Eq \
	'"event":"refused","dev":"rxe0","port":1,"src-addr":"10.77.0.2","src-port":7800,"dst-addr":"10.77.0.[12]","dst-port":[0-9]+,"gid":' "$tmp/json"
check "monitor: JSON has the process" grep -q "\"pid\":$client,\"comm\":\"rping\"" "$tmp/json"
timeout 20 env LD_LIBRARY_PATH="$cmx_lib" udaddy -s 10.77.0.1 >/dev/null 2>&1
check "a SIDR REQ without a listener is refused" traced \
	"unreachable +src $peer dst 10.77.0.1:7174 reason sidr-unsupported pid [0-9]+ comm udaddy trace-id [^ ]+"
ip link set d0 arp on
kill -STOP $json
check "a monitor is stopped" within 5 grep -q "^State:.T" /proc/$json/status
begin=${EPOCHREALTIME/[.,]/}
ours -c -a 10.77.0.10 -p 7800 -C 1
end=${EPOCHREALTIME/[.,]/}
kill -CONT $json
check "a failed address resolution is traced" traced \
	"addr-failed +src [^ ]+ dst 10.77.0.10:7800 reason (Connection timed out|No route to host) $rping trace-id [^ ]+"
check "the time is that of the event and not of its reading" within 5 traced_between $begin $end addr-failed
ip link set d0 arp off
ip link set d0 down
ip link set d0 up
check "a port that goes down is traced" traced "port +dev rxe0/1 reason down"
check "a port that comes up is traced" traced "port +dev rxe0/1 reason active"
kill -INT $lines
wait $lines
status=$?
check "SIGINT ends a monitor" [ $status = 0 ]
kill $json
wait $json
status=$?
check "SIGTERM ends a monitor" [ $status = 0 ]
check "monitor: JSON is as the schema says" eval '"$tests/tool/valid" "$top/tools/cmx.schema.json" monitor -l <"$tmp/json"'
check "no instance is left" eval '! ls -d $instances/cmx-*'
check "the monitors print no error" [ ! -s "$tmp/errors" ]

# Four active sides and a passive one. ib_cm itself refuses a REQ to a port without a listener.
while read -r counter value; do
	check "stats: $counter" stat_is "$counter" "$value"
done <<-END
	addr_resolved 4
	route_resolved 4
	connected 1
	connect_errors 1
	accepted 1
	requests 1
	rejected_consumer 1
	rejected_no_listener 1
	refused_no_listener 1
	latency_addr 4
	latency_connect 1
	latency_accept 1
	connect_timeouts 0
END
check "stats: another user sees the same" eval '[ "$(as_nobody "$cmx" stats)" = "$("$cmx" stats)" ]'
check "stats: a device has its own counters" eval '[ "$("$cmx" stats rxe0)" = "$("$cmx" stats | grep -v "^host ")" ]'
valid() { "$cmx" stats "$@" | "$tests/tool/valid" "$top/tools/cmx.schema.json" stats; }
check "stats: JSON is as the schema says" valid -j
check "stats: JSON has the same numbers" eval '[ "$("$cmx" stats -j | python3 -c "import json, sys
for port in json.load(sys.stdin):
	owner = port[\"dev\"] + \"/1\" if \"dev\" in port else \"host\"
	for kind, prefix in (\"counters\", \"\"), (\"gauges\", \"now_\"), (\"latencies\", \"latency_\"):
		for name, n in port.get(kind, {}).items():
			n = n[\"count\"] if type(n) is dict else n
			if n: print(owner, prefix + name, n)" | sort)" = \
	"$("$cmx" stats | cut -d" " -f1-3 | sort)" ]'

# the checks of a Prometheus scraper: a type before the samples, buckets that grow up to the count
metrics() {
	"$cmx" stats -m | python3 -c '
import re, sys
types, last, helped = {}, 0, None
for line in sys.stdin:
	if line.startswith("# HELP "):
		helped = line.split()[2]
		continue
	if line.startswith("# TYPE "):
		_, _, name, kind = line.split()
		assert name not in types and name == helped, line
		types[name] = kind
		continue
	name, labels, value = re.fullmatch(r"(\w+)(?:\{((?:\w+=\"[^\"]*\",?)+)\})? ([0-9.]+)\n", line).groups()
	if name == "rdma_cmx_up":
		assert types[name] == "gauge" and value == "1" and labels is None, line
		continue
	if name == "rdma_cmx_build_info":
		assert labels == "version=\"" + sys.argv[1] + "\"", line
		continue
	assert (labels is None) == ("_unattached_" in name or name.endswith("_queued_events")), line
	base = re.sub("_(bucket|sum|count)$", "", name)
	assert types[base] == ("histogram" if base.endswith("_seconds") else
		"gauge" if base.startswith("rdma_cmx_now_") else "counter"), line
	if name.endswith("_bucket"):
		first = "le=\"6.4e-05\"" in labels
		assert first or float(value) >= last, line
		last = float(value)
	if name.endswith("_count"):
		assert float(value) == last, line
assert len(types) > 40, types' "$(</sys/module/rdma_cmx/version)"
}
check "stats: -m prints the text format of Prometheus" metrics
check "stats: -m has the metric of a counter" eval \
	'"$cmx" stats -m | grep -qFx "rdma_cmx_connected_total{device=\"rxe0\",port=\"1\"} 1"'

# what is installed for Prometheus and Grafana
monitoring=$top/tools/monitoring
"$cmx" stats -m >"$tmp/metrics"
metrics_exist() { # FILE: all metrics that it names
	local name
	for name in $(grep -oE '\<rdma_cmx_[a-z_]+' "$monitoring/$1" | sort -u); do
		grep -q "^$name[{ ]" "$tmp/metrics" || { echo "no metric $name"; return 1; }
	done
	[ -n "$name" ]
}
check "monitoring: the alerts use metrics that exist" metrics_exist rdma_cmx.rules.yml
check "monitoring: the dashboard uses metrics that exist" metrics_exist rdma_cmx.dashboard.json
check "monitoring: each gauge is in the dashboard" eval \
	'! grep -oE "^rdma_cmx_now_[a-z_]+" "$tmp/metrics" | sort -u | grep -vxFf <(grep -oE "rdma_cmx_now_[a-z_]+" "$monitoring/rdma_cmx.dashboard.json")'
check "monitoring: the dashboard is JSON" eval 'python3 -m json.tool "$monitoring/rdma_cmx.dashboard.json" >/dev/null'
check "monitoring: the service writes the metrics of the moment" eval '
	command=$(sed -n "s/^ExecStart=//p" $monitoring/rdma-cmx-metrics.service) && mkdir "$tmp/textfile" &&
	(cd "$tmp/textfile" && PATH=$top/tools:$PATH && eval "$command" && [ "$(ls)" = rdma_cmx.prom ] &&
	grep -v "_events " rdma_cmx.prom | diff - <("$cmx" stats -m | grep -v "_events "))'
if command -v systemd-analyze >/dev/null; then
	check "monitoring: systemd accepts the units" says_nothing systemd-analyze verify --man=no \
		"$monitoring"/rdma-cmx-metrics.{service,timer}
else
	skip "monitoring: systemd accepts the units" "no systemd-analyze"
fi
promtool=$(command -v promtool || ls "${CMX_CACHE:-$HOME/.cache/rdma-cmx}/debs/usr/bin/promtool" 2>/dev/null)
if [ -n "$promtool" ]; then
	check "monitoring: promtool accepts the metrics" eval '"$promtool" check metrics <"$tmp/metrics"'
	check "monitoring: promtool accepts the alerts" "$promtool" check rules "$monitoring/rdma_cmx.rules.yml"
	check "monitoring: alerts fire" "$promtool" test rules "$tests/tool/alerts.yml"
else
	skip "monitoring: promtool accepts the metrics" "no promtool"
	skip "monitoring: promtool accepts the alerts" "no promtool"
	skip "monitoring: alerts fire" "no promtool"
fi

# a trace line has the name of the process, which any user can choose
rm "$tmp/lines"
"$cmx" monitor >>"$tmp/lines" 2>"$tmp/errors" &
lines=$!
check "a monitor begins" within 10 monitors 1
for name in ": cmx_mcast: " "[LOST 9 EVENTS]" $'\nCPU:0 [LOST 1' $'\nCPU:0 [LOST 1]' " comm= pid=1 "; do
	ln -s "$(command -v mckey)" "$tmp/$name"
	LD_LIBRARY_PATH=$cmx_lib timeout 2 "$tmp/$name" -m 239.77.77.9 -b 10.77.0.1 -C 1 >/dev/null 2>&1
	check "no process hides by its name: ${name//$'\n'/}" traced "left +dev rxe0/1 group [^ ]+ .*trace-id [^ ]+"
	[ "$name" = " comm= pid=1 " ] || : >"$tmp/lines"
done
check "a name that looks like a field is printed whole" traced \
	'joined +dev rxe0/1 group [^ ]+ pid [0-9]+ comm \\040comm=\\040pid=1\\040 trace-id [^ ]+'
kill $lines
wait $lines
check "no name looks like a loss of events" [ ! -s "$tmp/errors" ]

# the id has no device when its address resolution fails
ip link set d0 arp on
before=$(unattached "$cmx" stats)
"$cmx" monitor >/dev/full 2>"$tmp/errors" &
lines=$!
check "a monitor with a full output begins" within 10 monitors 1
ours -c -a 10.77.0.10 -p 7800 -C 1
wait $lines
status=$?
check "a monitor with a full output ends" [ $status = 1 ]
check "a monitor with a full output prints one error" eval '[ "$(cat "$tmp/errors")" = "cmx: standard output: No space left on device" ]'
for option in "" -m; do
	check "stats${option:+ $option}: another user sees a failed address resolution" eval \
		'[ "$(unattached as_nobody "$cmx" stats $option)" = $((before + 1)) ]'
done
check "stats: a failed address resolution has no device" eval '! "$cmx" stats rxe0 -m | grep unattached'

# the folders in sysfs are removed with the device, also while one is read
exec 7</sys/class/infiniband/rxe0/cmx1/connected
rdma link delete rxe0
check "a removed device has no counters" eval '[ "$("$cmx" stats -j | tr -d 0-9)" = \
	"[{\"counters\":{\"unattached_addr_errors\":,\"unattached_addr_timeouts\":},\"gauges\":{\"queued_events\":,\"unattached_listening\":}}]" ]'
check_not "an open file of a removed device has no counters" eval "cat <&7"
exec 7<&-
"$cmx" monitor 2>"$tmp/errors" &
lines=$!
check "a monitor begins before the module unloads" within 10 monitors 1
check "the module unloads under a monitor" unload_cmx
wait $lines
status=$?
check "the monitor ends with the module" [ $status = 1 ]
check "the monitor prints that the module is gone" grep -q "No such device" "$tmp/errors"
# an error would keep the service of the metrics from writing its file
check "stats: -m succeeds without the module" eval '"$cmx" stats -m >"$tmp/metrics" 2>&1'
check "stats: -m has rdma_cmx_up only without the module" [ "$(grep -v "^#" "$tmp/metrics")" = "rdma_cmx_up 0" ]
rm -r "$tmp"
finish
