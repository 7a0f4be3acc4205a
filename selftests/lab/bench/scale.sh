# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Many HCAs that join groups and connect, and the load of the SA. Source it after vm/ and vib/guest.sh.
#
# scale_net HCAS            a topology file: four switches, each with a cable to each other one
# scale_ipv4                 no IPv6 on IPoIB, which asks for all its groups at once, and has more of them then
# scale_start STACK HCAS GROUPS MEMBERS [ARG]...  start it on ours or stock: groups of an HCA, HCAs of a group,
#                           more arguments of bench
# scale COMMAND             print its results as lines "NAME VALUE" (scale.c); lines "#" go to standard error
# scale_stop                end it
# sm_master                 print the number of the HCA that has the master SM
# sm_next                   start another OpenSM on the next HCA, as standby
# sm_kill, takeover         kill the master; wait until the standby has begun to take over
# sm_ms                     print the processor time of the master, or of the next master, in ms
# sa_watch                  begin to record the requests that an SM receives, and its replies
# sa_seen                   print results of this record as lines "NAME VALUE":
#                           requests  requests of the class SA that an SM read, with repetitions
#                           replies   replies that it sent
#                           again     repetitions among the requests
#                           peak      most requests in any 100 ms
#                           open      most requests of one port without a reply, at one SM
#                           span_ms   from the first to the last request
# shellcheck shell=bash

scale_net() {
	awk -v n="$1" 'BEGIN {
		for (s = 0; s < 4; s++) {
			printf "Switch %d \"S%d\"\n", n / 4 + 4, s
			for (t = s + 1; t < 4; t++)
				printf "[%d] \"S%d\"[%d]\n", n / 4 + t + 1, t, n / 4 + s + 1
		}
		for (i = 0; i < n; i++)
			printf "Hca 1 \"H%d\"\n[1] \"S%d\"[%d]\n", i, i * 4 / n, i % (n / 4) + 1
	}'
}

scale_ipv4() {
	local i
	for ((i = 0; i < $(fabric_n); i++)); do
		on "$i" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	done
}

scale_start() {
	local lib=
	[ "$1" != ours ] || lib=$cmx_lib
	coproc scale_pipe { LD_LIBRARY_PATH=$lib exec "$tests/lab/bench/bench" -H "$2" -g "$3" -m "$4" "${@:5}" scale; }
}

scale() {
	local line
	echo "$1" >&"${scale_pipe[1]}"
	while read -r line <&"${scale_pipe[0]}"; do
		case $line in
		done) return 0;;
		"#"*) echo "$line" >&2;;
		*) echo "$line";;
		esac
	done
	return 1
}

scale_stop() {
	# shellcheck disable=SC2154 # bash sets it
	local pid=$scale_pipe_PID out=${scale_pipe[1]}
	exec {out}>&-
	wait "$pid"
}

sm_master() { cat "$fabric_run/master" 2>/dev/null || echo 0; }
sm_is_at() { sminfo -C "vib$1" | grep -q "sm lid $(vib_lid "$1") "; }

# With a lower GUID than the master it would become master at once. OpenSM sees only the first 32 HCAs, by name.
sm_after() { if [ "$1" = 1 ] && [ "$(fabric_n)" -gt 32 ]; then echo 10; else echo $(($1 + 1)); fi; }

sm_next() {
	local next
	next=$(sm_after "$(sm_master)")
	sm start "$next" && within 30 grep -q "Entering STANDBY" "$fabric_run/sm$next/log"
}

sm_kill() {
	local master
	master=$(sm_master)
	sm_after "$master" >"$fabric_run/master"
	sm kill "$master"
}

takeover() {
	sm_kill && within 60 sm_is_at "$(sm_master)"
}

sm_ms() {
	local _ user system stat
	stat=$(cat "/proc/$(cat "$fabric_run/sm$(sm_master)/pid")/stat")
	read -r _ _ _ _ _ _ _ _ _ _ _ user system _ <<<"${stat##*) }"
	echo $(((user + system) * 1000 / $(getconf CLK_TCK)))
}

tracing=/sys/kernel/tracing/instances/sa

sa_watch() {
	local e
	mkdir -p $tracing
	echo 0 >$tracing/tracing_on
	echo 65536 >$tracing/buffer_size_kb
	echo mono >$tracing/trace_clock
	for e in read_recv write; do
		echo "mgmt_class == 3" >$tracing/events/ib_umad/ib_umad_$e/filter
		echo 1 >$tracing/events/ib_umad/ib_umad_$e/enable
	done
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
}

sa_seen() {
	echo 0 >$tracing/tracing_on
	awk '
		function value(name,    i) { for (i = 1; i < NF; i++) if ($i == name) return $(i + 1) }
		function end(key) { open[port[key]]--; delete port[key] }
		!match($0, /ib_umad_[a-z_]*:/) { next }
		{
			write = substr($0, RSTART, RLENGTH) ~ /write/
			time = substr($0, 1, RSTART - 3)
			sub(/.* /, "", time)
			sm = substr($0, RSTART + RLENGTH + 1)
			sub(/ .*/, "", sm)
			key = sm " " value("lid") " " value("tid")
		}
		write { replies++; if (key in port) end(key); next }
		# a reply has the highest bit of the method
		value("method") ~ /0x[89a-f]./ { next }
		{
			if (!requests++)
				first = time
			last = times[requests] = time
			while (times[tail + 1] < time - 0.1)
				tail++
			if (requests - tail > peak)
				peak = requests - tail
			if (key in seen) {
				again++
				next
			}
			# ib_sa waits no longer
			if (time > purged + 0.1) {
				for (k in port)
					if (seen[k] < time - 3.3)
						end(k)
				purged = time
			}
			seen[key] = time
			port[key] = sm " " value("lid")
			if (++open[port[key]] > most)
				most = open[port[key]]
		}
		END {
			print "requests", requests + 0
			print "replies", replies + 0
			print "again", again + 0
			print "peak", peak + 0
			print "open", most + 0
			printf "span_ms %d\n", (last - first) * 1000
		}' $tracing/trace
}
