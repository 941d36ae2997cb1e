#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line: verbs, help, options, errors in files, pipes, signals. Needs no guest.
set -uo pipefail
: "${NUMALAB:?}" "${TEST_TMP:?}" "${TEST_TREE:?}"
cd "$TEST_TMP" || exit 1
failures=0

ok() { echo "ok $1"; }
bad() { echo "not ok $1: $2"; failures=$((failures + 1)); }

# run NAME EXIT ARGUMENT...: runs the command; its output is in out and err
run() {
	local name=$1 want=$2 rc
	shift 2
	"$NUMALAB" "$@" >out 2>err </dev/null
	rc=$?
	[ "$rc" = "$want" ] || { bad "$name" "exit $rc, wanted $want: $(head -c 300 err)"; return 1; }
}
# error NAME TEXT ARGUMENT...: exit 2, nothing on stdout, exactly this one line on stderr
error() {
	local name=$1 text=$2
	shift 2
	run "$name" 2 "$@" || return
	if [ -s out ]; then bad "$name" "stdout: $(head -c 200 out)"
	elif [ "$(cat err)" != "$text" ]; then bad "$name" "$(head -c 500 err)"
	else ok "$name"; fi
}
# same NAME WANTED FOUND
same() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "$(diff <(echo "$2") <(echo "$3") | head -n 20)"; fi; }

verbs=$("$NUMALAB" help | sed -nE 's/^  ([a-z]+) .*/\1/p')
sub() { "$NUMALAB" help "$1" | sed -n '/^Verbs:/,/^$/p' | sed -nE 's/^  ([a-z]+).*/\1/p'; }

# ---- the table of verbs: every runner/cmd_*.c is there, in a fixed order --------------------------
files=$(cd "$TEST_TREE/runner" && for f in cmd_*.c; do f=${f#cmd_}; echo "${f%.c}"; done | sort)
same "every runner/cmd_VERB.c is a verb in help" "$files" "$(sort <<<"$verbs")"
order="run verify list show compare profile noise clean scenario topology image kernel doctor boot completion help"
want=""
for v in $order; do if grep -qx "$v" <<<"$verbs"; then want+="$v "; fi; done
same "the order of help" "$want" "$(tr '\n' ' ' <<<"$verbs")"

# ---- help, man pages and completion say the same ------------------------------------------------
options() { grep -oE '^  (-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; }
check_verb() {
	local name="$*" help man complete
	help=$("$NUMALAB" help "$@") || { bad "help $name" "exit $?"; return; }
	same "$name --help is help $name" "$help" "$("$NUMALAB" "$@" --help)"
	grep -q '^usage: numalab' <<<"$help" || bad "help $name" "no usage"
	if awk 'length > 80 { exit 1 }' <<<"$help"; then ok "help $name fits 80 columns"
	else bad "help $name fits 80 columns" "$(awk 'length > 80' <<<"$help" | head -n 1)"; fi
	complete=$("$NUMALAB" completion bash -- "$@" --)
	same "completion of $name has the options of its help" "$(options <<<"$help")" "$(grep '^--' <<<"$complete" | sort -u)"
	man=$("$NUMALAB" help --man "$1" | grep -oE 'Fl -[a-z-]+' | sed 's/Fl /-/' | sort -u)
	for o in $(options <<<"$help"); do
		grep -q -- "^  .*$o" <<<"$("$NUMALAB" help)" && continue
		grep -qx -- "$o" <<<"$man" || bad "man page of $name" "lacks $o"
	done
}
for v in $verbs; do
	subs=$(sub "$v")
	if [ -z "$subs" ]; then check_verb "$v"; continue; fi
	run "$v --help" 0 "$v" --help && ok "$v --help"
	same "completion of $v has its verbs" "$(sort <<<"$subs")" "$("$NUMALAB" completion bash -- "$v" '')"
	for s in $subs; do
		check_verb "$v" "$s"
		grep -qx "\.Cm $v $s" <<<"$("$NUMALAB" help --man "$v")" || bad "man page of $v" "lacks $s in its synopsis"
	done
done
same "completion has all verbs" "$(sort <<<"$verbs")" "$("$NUMALAB" completion bash -- '')"
same "help is --help" "$("$NUMALAB" help)" "$("$NUMALAB" --help)"
run "--version" 0 --version && same "--version" "numalab" "$(cut -d' ' -f1 out)"

# ---- man pages -------------------------------------------------------------------------------------
if ! command -v mandoc >/dev/null; then echo "skip man pages: no mandoc"
elif ! "$TEST_TREE/docs/man/build" "$(dirname "$NUMALAB")" "$TEST_TMP/man" 2>err; then bad "man pages" "$(head -c 300 err)"
else
	same "a man page of every verb" "$(for v in $verbs; do echo "numalab-$v.1"; done | sort; echo numalab.1)" "$(cd man && ls ./*.1 | sed 's,^\./,,' | sort)"
	for page in man/*; do
		if lint=$(mandoc -Tlint -W warning "$page"); then ok "$(basename "$page") is clean mdoc"; else bad "$(basename "$page") is clean mdoc" "$lint"; fi
		# Every reference to a page of ours has that page.
		for x in $(sed -nE 's/^\.(It |Op |Pq )?Xr (numalab[a-z-]*) ([15]).*/\2.\3/p' "$page"); do
			[ -e "man/$x" ] || bad "$(basename "$page")" "refers to $x"
		done
	done
fi

# ---- the script of completion, in a real bash ----------------------------------------------------
cat >complete.sh <<'E'
PATH=$(dirname "$NUMALAB"):$PATH
eval "$(numalab completion bash)"
reply() { # LINE
	COMP_LINE=$1; COMP_POINT=${#1}; COMPREPLY=()
	_numalab
	echo "[${COMPREPLY[*]}]"
}
reply "numalab topol"
reply "numalab topology show vnuma-2x"
reply "numalab topology show --js"
reply "numalab --store=/x topology l"
reply "numalab nonsense "
reply "numalab topology show /"
reply "numalab kernel add debian:bul"
COMP_WORDBREAKS=$' \t\n'
reply "numalab kernel add debian:bul"
E
same "completion in bash" $'[topology]\n[vnuma-2x2p-1G]\n[--json]\n[list]\n[]\n[]\n[bullseye]\n[debian:bullseye]' "$(bash complete.sh 2>&1)"

# ---- topologies as libvirt and QEMU get them ------------------------------------------------------
for t in $("$NUMALAB" topology list | awk 'NR > 1 { print $1 }'); do
	if ! "$NUMALAB" topology show "$t" >out 2>err || ! grep -q '^node distances:' out; then bad "topology show $t" "$(head -c 300 err)"
	elif ! "$NUMALAB" topology show --json "$t" >out 2>err || ! grep -q '"distances"' out; then bad "topology show --json $t" "$(head -c 300 err)"
	else ok "topology show $t"; fi
done
if "$NUMALAB" topology show --xml vnuma-4x1p-512M-ring >out 2>err && grep -q '<sibling id="2" value="30"/>' out; then ok "topology show --xml"
else bad "topology show --xml" "$(head -c 300 err)"; fi
if "$NUMALAB" topology show --args fake-4x1p-512M >out 2>err && grep -q 'numa=fake=4' out && ! grep -qx -- '-numa' out &&
	grep -qx 'shift=1,sleep=off' out; then ok "topology show --args"
else bad "topology show --args" "$(head -c 300 err)"; fi

# ---- usage errors ---------------------------------------------------------------------------------
error "no verb" "numalab: wanted a verb, found nothing; 'numalab help' lists them"
error "unknown verb" "numalab: unknown verb 'topologie' (did you mean 'topology'?)" topologie
error "unknown verb of a verb" "numalab: topology: unknown verb 'shwo' (did you mean 'show'?)" topology shwo
error "no verb of a verb" "numalab: topology: wanted a verb, found nothing; 'numalab help topology' lists them" topology
error "unknown option" "numalab: topology show: unknown option --jsno (did you mean '--json'?)" topology show --jsno x
error "unknown global option" "numalab: unknown option --stroe (did you mean '--store'?)" --stroe x help
error "option without its value" "numalab: missing argument for --store" --store
error "a value joined to its option" "numalab: --jobs: wanted a number above 0" run demo -j-1
error "too few arguments" "numalab: topology show: wanted TOPOLOGY, found nothing" topology show
error "too many arguments" "numalab: topology list: wanted no arguments, found also 'x'" topology list x
error "options end at --" "numalab: topology list: wanted no arguments, found also '--json'" topology list -- --json
run "global options before and after the verb" 0 --no-color topology list --quiet --store /nonexistent &&
	ok "global options before and after the verb"

# ---- errors in files: one line, with file, line and column, exit 2 --------------------------------
# file_error NAME LINE:COLUMN TEXT ARGUMENT... <FILE: the last argument is bad.yaml, made from stdin
file_error() {
	local name=$1 at=$2 text=$3
	shift 3
	cat >bad.yaml
	run "$name" 2 "$@" bad.yaml || return
	if [ -s out ]; then bad "$name" "stdout: $(head -c 200 out)"
	elif [ "$(wc -l <err)" != 1 ]; then bad "$name" "more than a line: $(head -c 500 err)"
	elif [[ $(cat err) != "bad.yaml:$at: "*"$text"* ]]; then bad "$name" "$(cat err)"
	else ok "$name"; fi
}
file_error "topology: unknown key" 2:1 "did you mean 'nodes'?" topology show <<'E'
kind: vnuma
noeds: {count: 2, cpus-per-node: 1, memory-per-node: 512MiB}
E
file_error "topology: a CPU in two nodes" 4:12 "CPU 1" topology show <<'E'
kind: vnuma
nodes:
  - {cpus: 0-1, memory: 512MiB}
  - {cpus: 1-2, memory: 512MiB}
E
file_error "topology: a CPU in no node" 3:3 "CPU 1" topology show <<'E'
kind: vnuma
nodes:
  - {cpus: 0, memory: 512MiB}
  - {cpus: 2, memory: 512MiB}
E
file_error "topology: memory does not add up" 2:9 "" topology show <<'E'
kind: vnuma
memory: 2GiB
nodes:
  - {cpus: 0, memory: 512MiB}
  - {cpus: 1, memory: 512MiB}
E
file_error "topology: a distance below 10" 6:10 "9" topology show <<'E'
kind: vnuma
nodes:
  - {cpus: 0, memory: 512MiB}
  - {cpus: 1, memory: 512MiB}
distances:
  - [10, 9]
  - [20, 10]
E
file_error "topology: unit is missing" 3:23 "512" topology show <<'E'
kind: vnuma
nodes:
  - {cpus: 0, memory: 512}
E
file_error "not YAML" 1:2 "" topology show <<<'{{{'
file_error "scenario: unknown key" 2:1 "did you mean 'topology'?" scenario check <<'E'
image: xfs
topologie: vnuma-2x2p-1G
kernels: [debian:bookworm]
steps: [{run: [numactl, -H]}]
E
file_error "scenario: unknown topology" 1:11 "did you mean 'vnuma-2x2p-1G'?" scenario check <<'E'
topology: vnuma-2x2p-1
image: xfs
kernels: [debian:bookworm]
steps: [{run: [numactl, -H]}]
E
file_error "scenario: errors of a topology in place" 1:51 "512" scenario check <<'E'
topology: {kind: vnuma, nodes: [{cpus: 0, memory: 512}]}
image: xfs
kernels: [debian:bookworm]
steps: [{run: [numactl, -H]}]
E
file_error "scenario: a suite without debian:" 3:11 "did you mean 'debian:bookworm'?" scenario check <<'E'
topology: vnuma-2x2p-1G
image: xfs
kernels: [bookworm]
steps: [{run: [numactl, -H]}]
E
file_error "scenario: unknown step" 5:5 "did you mean 'xfs_repair'?" scenario check <<'E'
topology: vnuma-2x2p-1G
image: xfs
kernels: [debian:bookworm]
steps:
  - xfs_repiar: {}
E
file_error "scenario: size without unit" 4:27 "512" scenario check <<'E'
topology: vnuma-2x2p-1G
image: xfs
kernels: [debian:bookworm]
steps: [{mkfs.xfs: {size: 512}}]
E
error "scenario: --set of an unknown key" "numalab: --set settings.numa_balancnig=on: wanted a key of settings, found 'numa_balancnig' (did you mean 'numa_balancing'?)" \
	scenario check demo --set settings.numa_balancnig=on
run "scenario: --set is applied" 0 scenario check demo --set boots=2 && same "scenario: --set is applied" "boots     4 (seeds 1, 2)" "$(grep '^boots' out)"
for s in $("$NUMALAB" scenario list | awk 'NR > 1 { print $1 }'); do
	run "scenario check $s" 0 scenario check "$s" && ok "scenario check $s"
done

# The examples of the documents are good.
yaml_of_man() { sed -n '/^\.Sh EXAMPLES/,$p' "$1" | sed -n '/^\.Bd/,/^\.Ed/p' | grep -v '^\.'; }
sed -n '/^## A scenario/,/^Nothing/p' "$TEST_TREE/README.md" | sed -n 's/^    //p' >readme.yaml
run "the scenario in README.md" 0 scenario check readme.yaml && ok "the scenario in README.md"
yaml_of_man "$TEST_TREE/docs/man/numalab-scenario.5.in" >man.yaml
run "the scenario in numalab-scenario(5)" 0 scenario check man.yaml && ok "the scenario in numalab-scenario(5)"
yaml_of_man "$TEST_TREE/docs/man/numalab-topology.5.in" | sed '/^kind: fake/,$d' >man.yaml
run "the topology in numalab-topology(5)" 0 topology show man.yaml && ok "the topology in numalab-topology(5)"
error "no such file" "numalab: nonexistent.yaml: wanted a topology file, found none" topology show nonexistent.yaml

# ---- output that cannot be written, readers that leave, signals -----------------------------------
"$NUMALAB" help >/dev/full 2>err
rc=$?
same "a full disk as stdout" "3 numalab: cannot write to standard output: No space left on device" "$rc $(cat err)"
"$NUMALAB" help >&- 2>err
rc=$?
same "a closed stdout" "3 numalab: cannot write to standard output: Bad file descriptor" "$rc $(cat err)"
# The reader is gone before the writer starts.
exec {pipe}> >(:)
wait $!
"$NUMALAB" topology list >&"$pipe" 2>err
rc=$?
exec {pipe}>&-
same "the reader of a pipe left" "141 " "$rc $(cat err)"
same "help | head" "usage: numalab [OPTIONS] VERB [ARGUMENTS]" "$("$NUMALAB" help 2>&1 | head -n 1)"
if "$NUMALAB" topology list | grep -q $'\033'; then bad "no colours in a pipe" "escape sequence"; else ok "no colours in a pipe"; fi

# ---- doctor ---------------------------------------------------------------------------------------
timeout 60 "$NUMALAB" doctor --json >out 2>err
rc=$?
if [ "$rc" != 0 ] && [ "$rc" != 3 ]; then bad "doctor ends with 0 or 3" "exit $rc: $(head -c 300 err)"
elif ! grep -q '"exact"' out; then bad "doctor --json" "no clocks in it"
else ok "doctor says which clocks there are"; fi
mkdir -p empty
PATH=$PWD/empty /usr/bin/timeout 60 "$NUMALAB" doctor >out 2>err
rc=$?
if [ "$rc" = 3 ] && grep -q 'qemu-system-x86_64 (not in PATH)' out; then ok "doctor without QEMU"
else bad "doctor without QEMU" "exit $rc: $(head -c 300 out err)"; fi

# A QEMU that never answers: doctor ends all the same, and at once when it is told to.
mkdir -p hang
mkfifo asked
exec {asked}<>asked
cat >hang/qemu-system-x86_64 <<'E'
#!/bin/sh
echo >asked
exec tail -f /dev/null
E
chmod +x hang/qemu-system-x86_64
PATH=$PWD/hang:$PATH timeout 60 "$NUMALAB" doctor >out 2>err &
read -r -t 50 -u "$asked" _
wait $!
rc=$?
if [ "$rc" = 3 ] && grep -q 'does not say its version' out; then ok "doctor with a QEMU that hangs"
else bad "doctor with a QEMU that hangs" "exit $rc: $(head -c 300 out err)"; fi
for signal in INT TERM; do
	PATH=$PWD/hang:$PATH "$NUMALAB" doctor >out 2>err &
	pid=$!
	read -r -t 50 -u "$asked" _
	kill -"$signal" "$pid"
	began=$SECONDS
	wait "$pid"
	rc=$?
	if [ "$rc" = 130 ] && [ ! -s out ] && [ $((SECONDS - began)) -lt 4 ]; then ok "SIG$signal ends a command and its children: 130"
	else bad "SIG$signal ends a command and its children: 130" "exit $rc after $((SECONDS - began)) s: $(head -c 300 out err)"; fi
done
if pgrep -f "tail -f /dev/null" | while read -r p; do readlink "/proc/$p/cwd"; done | grep -qx "$PWD"; then bad "no child is left" "there is one"
else ok "no child is left"; fi

[ "$failures" = 0 ]
