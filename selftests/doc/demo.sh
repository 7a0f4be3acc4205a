#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# demo: make demo still prints what Documentation/demo.rst shows
# kernels: default
# timeout: 400
. "$(dirname "$0")/../vm/guest.sh"
page=$top/Documentation/demo.rst
[ -e "$page" ] || skip_all "no documentation"
tmp=$(mktemp -d)
# scenes uses tests/vib
# without numbers, addresses and the width of columns
plain() { sed -E 's/^    //; s/[0-9a-f]*[0-9][0-9a-f:.]*/N/g; s/ +/ /g'; }

check "make demo: the scenes succeed" eval '"$tests/doc/scenes" >"$tmp/out" || { cat "$tmp/out"; false; }'
check "demo.rst shows the output of the scenes; selftests/doc/demo -w writes it" \
	diff <(sed '1,/^::$/d' "$page" | sed 1d | plain) <(plain <"$tmp/out")
finish
