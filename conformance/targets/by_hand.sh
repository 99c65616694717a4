# Replays the findings of RESULTS.md with curl and a shell, without the runner and its vectors. Each target's own
# by_hand.sh sources this file:
#
#     bash conformance/targets/NAME/by_hand.sh
#
# prints each finding with its requests and responses. Exit codes: 0 all as in RESULTS.md, 1 a response differs, 2 the
# server did not start. It needs bash, curl, jq and what the target itself needs.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[-1]}")" || exit 2

wrong=0 # responses that differ from RESULTS.md
work=$(mktemp -d)
server='' # its process group
status='' head='' body='' # of the last response

finish() {
  local code=$?
  stop_server
  rm -rf "$work"
  ((code == 2)) && exit 2 # the run is incomplete
  echo
  if ((wrong == 0)); then echo 'All responses are as in RESULTS.md.'; else echo "$wrong responses differ from RESULTS.md."; fi
  exit $((wrong > 0))
}
trap finish EXIT
trap 'exit 2' INT TERM

# free_port: prints a free port on loopback.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# serve URL COMMAND…: starts the server in this folder, and waits until the URL responds.
serve() {
  local url=$1
  shift
  set -m
  "$@" > "$work/server.log" 2>&1 &
  server=$!
  set +m
  for _ in $(seq 300); do
    curl --silent --output /dev/null --max-time 5 "$url" && return
    kill -0 "$server" 2> /dev/null || break
    sleep 0.2
  done
  echo "No response at $url. Last lines of the server log:"
  tail -5 "$work/server.log"
  exit 2
}

stop_server() {
  [[ -z $server ]] && return
  kill -- "-$server" 2> /dev/null
  for _ in $(seq 25); do
    alive || break
    sleep 0.2
  done
  kill -KILL -- "-$server" 2> /dev/null
  wait "$server" 2> /dev/null
  server=''
}

# alive: whether the server process is running.
alive() { kill -0 "$server" 2> /dev/null; }

# finding TITLE: the following requests replay the row of RESULTS.md with this title (without its level).
finding() { printf '\n## %s\n' "$1"; }

# request URL [option of curl…]: sets status, head and body; prints the command and the first bytes of the response.
request() {
  printf '> curl'
  printf ' %q' "$@"
  echo
  status=$(curl --silent --globoff --path-as-is --max-time 20 --dump-header "$work/head" --output "$work/body" \
    --write-out '%{http_code}' "$@" 2> "$work/error")
  local code=$?
  head=$(tr -d '\r\0' 2> /dev/null < "$work/head") # without headers curl creates no file
  body=$(tr -d '\0' 2> /dev/null < "$work/body")
  ((code == 0)) || body="curl ended with $code $body" # 28: timeout; 52: closed without a response
  rm -f "$work/head" "$work/body"
  printf '< %s %s\n' "$status" "$(head --bytes 300 <<< "$body" | tr '\n' ' ')"
}

# send_lines SECONDS COMMAND… < LINES: starts a server over stdio, sends the lines, and closes its input after SECONDS; sets body to its output.
send_lines() {
  local seconds=$1
  shift
  printf '> lines to'
  printf ' %q' "$@"
  echo
  body=$({ tee /dev/stderr; sleep "$seconds"; } 2> "$work/sent" | timeout $((seconds + 20)) "$@" 2> "$work/error")
  sed 's/^/> /' "$work/sent" | head -20
  printf '< %s\n' "$(head --bytes 400 <<< "$body")"
}

# check TEXT [VECTOR…]: call it after a test. Prints whether the test held, and the vectors that fail for it.
check() {
  if [[ $? == 0 ]]; then printf 'ok       %s' "$1"; else
    printf 'CHANGED  %s' "$1"
    wrong=$((wrong + 1))
  fi
  shift
  if (($# > 0)); then printf ' (%s)' "$(sed 's/ /, /g' <<< "$*")"; fi
  echo
}

# expect STATUS PATTERN [VECTOR…]: checks that the last response has this status, and PATTERN in its head or body.
expect() {
  local code=$1 pattern=$2
  shift 2
  [[ $status == "$code" && $head$'\n'$body =~ $pattern ]]
  check "$code, $pattern" "$@"
}

# expect_no PATTERN [VECTOR…]: checks that PATTERN is in neither head nor body of the last response.
expect_no() {
  local pattern=$1
  shift
  [[ ! $head$'\n'$body =~ $pattern ]]
  check "no $pattern" "$@"
}
