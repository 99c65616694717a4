# Findings of RESULTS.md in Glewlwyd, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"

# The server registers everything on the port above its own, so both have to be free.
port=$(python3 -c '
import socket
while True:
    try:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0)); two.bind(("127.0.0.1", one.getsockname()[1] + 1))
            print(one.getsockname()[1]); break
    except (OSError, OverflowError): pass')
issuer="http://127.0.0.1:$port/api/glwd"
serve "$issuer/.well-known/openid-configuration" /usr/bin/python3 server.py "$port"

declare -A id secret uri # of the clients, by the names that they have in target.json
while IFS='|' read -r name one two three; do id[$name]=$one secret[$name]=$two uri[$name]=$three; done < <(
  jq --raw-output '.vars.clients | to_entries[] | [.key, .value.id, .value.secret, .value.redirect_uri] | join("|")' target.json)

# basic ID SECRET: the value of an Authorization field. my CLIENT: that of a client that has a secret.
basic() { printf 'Basic %s' "$(printf '%s:%s' "$1" "$2" | base64 --wrap 0)"; }
my() { basic "${id[$1]}" "${secret[$1]}"; }

# form DEFAULT… -- DIFFERENCE…: sets `sent`, the options of curl for a form of name=value. A difference is name=value (instead of
# the default), +name=value (beside it), -name (left out) or ^name=value (as it stands, since it is encoded already).
form() {
  local -a defaults=()
  local pair other
  sent=()
  for (( ; ; )); do
    pair=$1
    shift
    [[ $pair == -- ]] && break
    defaults+=("$pair")
  done
  for pair in "${defaults[@]}"; do
    for other in "$@"; do
      case $other in "-${pair%%=*}" | "${pair%%=*}="* | "^${pair%%=*}="*) continue 2 ;; esac
    done
    sent+=(--data-urlencode "$pair")
  done
  for other in "$@"; do
    case $other in
      -*) ;;
      ^*) sent+=(--data "${other#^}") ;;
      *) sent+=(--data-urlencode "${other#+}") ;;
    esac
  done
  ((${#sent[@]} > 0)) || sent=(--data '')
}

challenge_of() { printf %s "$1" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d =; }
verifier=$(openssl rand -hex 32)
challenge=$(challenge_of "$verifier")
another=$(openssl rand -hex 32)

# question CLIENT DIFFERENCE…: sets `sent` to the request that opens the authorization endpoint.
question() {
  form response_type=code "client_id=${id[$1]}" "redirect_uri=${uri[$1]}" scope=read state=xyz \
    "code_challenge=$challenge" code_challenge_method=S256 -- "${@:2}"
}

# opened CLIENT DIFFERENCE…: alice's browser opens it. With g_continue= that is what the page's program does once she said yes.
opened() {
  question "$@"
  ask "$issuer/auth" --get --cookie "$work/jar" "${sent[@]}"
}

# code_of CLIENT DIFFERENCE…: sets `code` to a new one.
code_of() {
  opened "$@" g_continue= > /dev/null
  code=$(sed -n 's/^[Ll]ocation: .*[?&]code=\([^&#]*\).*/\1/p' <<< "$head")
}

# bill CLIENT FIELD DIFFERENCE…: sets `sent` to the request that turns `code` (a new one where there is none) into tokens. FIELD is
# the Authorization; where it is empty, the client tells its name.
bill() {
  local client=$1 field=$2
  shift 2
  [[ -n $code ]] || code_of "$client"
  if [[ -n $field ]]; then set -- -client_id "$@"; fi
  form grant_type=authorization_code "code=$code" "redirect_uri=${uri[$client]}" "client_id=${id[$client]}" \
    "code_verifier=$verifier" -- "$@"
  [[ -z $field ]] || sent+=(--header "Authorization: $field")
  code=''
}
code=''

# spend, as bill: and sends it. tokens FIELD NAME=VALUE…: any other request for tokens. introspect, as tokens: asks about one.
spend() {
  bill "$@"
  ask "$issuer/token" "${sent[@]}"
}
tokens() {
  form -- "${@:2}"
  ask "$issuer/token" "${sent[@]}" ${1:+--header "Authorization: $1"}
}
introspect() {
  form -- "${@:2}"
  ask "$issuer/introspect" "${sent[@]}" ${1:+--header "Authorization: $1"}
}

# granted CLIENT DIFFERENCE…: sets `access` and `refresh` to what a new code gives.
granted() {
  local field=''
  [[ -z ${secret[$1]} ]] || field=$(my "$1")
  code_of "$@"
  spend "$1" "$field" > /dev/null
  kept
}
kept() {
  access=$(jq --raw-output .access_token <<< "$body")
  refresh=$(jq --raw-output .refresh_token <<< "$body")
}

# shown FIELD: the token is shown to the resource, which is userinfo.
shown() { ask "$issuer/userinfo" --header "Authorization: $1"; }

# at_once COUNT OPTION…: so many requests for tokens at once; `many` holds the bodies, one in a line.
at_once() {
  rm -f "$work"/many.*
  curl --silent --parallel --parallel-immediate --max-time 20 --output "$work/many.#1" "$issuer/token#[1-$1]" "${@:2}" &> /dev/null
  many=$(for body in "$work"/many.*; do tr -d '\n' < "$body"; echo; done)
  printf '> %d at once, of which %d get tokens\n' "$1" "$(grep --count '"access_token"' <<< "$many")"
}
# unlike MEMBER: how many different ones `many` has.
unlike() { grep --only-matching "\"$1\":\"[^\"]*\"" <<< "$many" | sort --unique | wc --lines; }

# altered TOKEN: with another letter in the middle.
altered() {
  local half=$((${#1} / 2)) letter=A
  [[ ${1:half:1} == A ]] && letter=B
  printf %s "${1:0:half}$letter${1:half+1}"
}

# row VECTOR COMMAND…: the command's answer is what `like` says. `nobody` is in the head of an answer without a body.
row() {
  "${@:2}"
  told "${like[@]}" "$1"
}
nobody='Content-Length: 0'
odd="%00'%22*%25_../%7B%7D%C3%A9%E2%80%A8"

curl --silent --output /dev/null --cookie-jar "$work/jar" --json '{"username":"alice","password":"wonderland"}' "http://127.0.0.1:$port/api/auth/"
for name in "${!uri[@]}"; do
  curl --silent --output /dev/null --cookie "$work/jar" --request PUT --json '{"scope":"read write"}' "http://127.0.0.1:$port/api/auth/grant/${id[$name]}"
done

source ./findings.sh
