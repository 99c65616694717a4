# Findings of RESULTS.md asked by hand: with curl and a shell, so that neither our runner nor our vectors stand between
# the reader and the server. Each target's own by_hand.sh takes these words from here:
#
#     bash conformance/targets/NAME/by_hand.sh
#
# prints each finding, what was sent and what came back, and ends with 1 where RESULTS.md tells it otherwise. It needs
# bash, curl, jq and what the target itself needs.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[-1]}")" || exit 2

wrong=0 # answers that are not what RESULTS.md tells
work=$(mktemp -d)
server='' # its process group
status='' head='' body='' # of the last answer

finish() {
  local code=$?
  stop_server
  rm -rf "$work"
  ((code == 2)) && exit 2 # nothing was asked to the end
  echo
  if ((wrong == 0)); then echo 'all as RESULTS.md tells it'; else echo "$wrong not as RESULTS.md tells it"; fi
  exit $((wrong > 0))
}
trap finish EXIT
trap 'exit 2' INT TERM

# free_port: a port of loopback that nobody listens on.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# serve URL COMMAND…: starts the server, in this folder, and waits until something answers at the URL.
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
  echo "nothing answers at $url:"
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

# alive: whether the server's process still runs.
alive() { kill -0 "$server" 2> /dev/null; }

# finding TITLE: what follows replays the row of RESULTS.md that has this title (without its level).
finding() { printf '\n## %s\n' "$1"; }

# ask URL [option of curl…]: sets status, head and body; prints what was sent and the answer's beginning.
ask() {
  printf '> curl'
  printf ' %q' "$@"
  echo
  status=$(curl --silent --globoff --path-as-is --max-time 20 --dump-header "$work/head" --output "$work/body" \
    --write-out '%{http_code}' "$@" 2> "$work/error")
  local code=$?
  head=$(tr -d '\r\0' 2> /dev/null < "$work/head") # an answer without any makes no file
  body=$(tr -d '\0' 2> /dev/null < "$work/body")
  ((code == 0)) || body="curl ended with $code $body" # 28: no answer in time; 52: closed without a word
  rm -f "$work/head" "$work/body"
  printf '< %s %s\n' "$status" "$(head --bytes 300 <<< "$body" | tr '\n' ' ')"
}

# say SECONDS COMMAND… < LINES: a server on standard input, left open for so long; body is what it printed.
say() {
  local seconds=$1
  shift
  printf '> lines to'
  printf ' %q' "$@"
  echo
  body=$({ tee /dev/stderr; sleep "$seconds"; } 2> "$work/sent" | timeout $((seconds + 20)) "$@" 2> "$work/error")
  sed 's/^/> /' "$work/sent" | head -20
  printf '< %s\n' "$(head --bytes 400 <<< "$body")"
}

# proven WORDS [VECTOR…]: after a test; says whether it held, and of which vectors this was what fails.
proven() {
  if [[ $? == 0 ]]; then printf 'ok       %s' "$1"; else
    printf 'CHANGED  %s' "$1"
    wrong=$((wrong + 1))
  fi
  shift
  if (($# > 0)); then printf ' (%s)' "$(sed 's/ /, /g' <<< "$*")"; fi
  echo
}

# told STATUS PATTERN [VECTOR…]: the last answer has this status, and the pattern is in its head or body.
told() {
  local code=$1 pattern=$2
  shift 2
  [[ $status == "$code" && $head$'\n'$body =~ $pattern ]]
  proven "$code, $pattern" "$@"
}

# lacks PATTERN [VECTOR…]: neither head nor body of the last answer has it.
lacks() {
  local pattern=$1
  shift
  [[ ! $head$'\n'$body =~ $pattern ]]
  proven "no $pattern" "$@"
}
