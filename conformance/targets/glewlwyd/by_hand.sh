# Findings of RESULTS.md in Glewlwyd, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"

# The server uses the next port for its registration, so both must be free.
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

declare -A id secret uri # of the clients, by their name in target.json
while IFS='|' read -r name one two three; do id[$name]=$one secret[$name]=$two uri[$name]=$three; done < <(
  jq --raw-output '.vars.clients | to_entries[] | [.key, .value.id, .value.secret, .value.redirect_uri] | join("|")' target.json)

# basic ID SECRET: prints the Authorization header. my CLIENT: prints that of a confidential client.
basic() { printf 'Basic %s' "$(printf '%s:%s' "$1" "$2" | base64 --wrap 0)"; }
my() { basic "${id[$1]}" "${secret[$1]}"; }

# form DEFAULT… -- CHANGE…: sets `sent` to curl options for a form of name=value. A change is name=value (replaces the default),
# +name=value (is added), -name (removes it) or ^name=value (is already encoded).
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

# question CLIENT CHANGE…: sets `sent` to the authorization request.
question() {
  form response_type=code "client_id=${id[$1]}" "redirect_uri=${uri[$1]}" scope=read state=xyz \
    "code_challenge=$challenge" code_challenge_method=S256 -- "${@:2}"
}

# opened CLIENT CHANGE…: opens the authorization endpoint in alice's browser. g_continue= is what the page sends after consent.
opened() {
  question "$@"
  request "$issuer/auth" --get --cookie "$work/jar" "${sent[@]}"
}

# code_of CLIENT CHANGE…: sets `code` to a new code.
code_of() {
  opened "$@" g_continue= > /dev/null
  code=$(sed -n 's/^[Ll]ocation: .*[?&]code=\([^&#]*\).*/\1/p' <<< "$head")
}

# prepare_redemption CLIENT FIELD CHANGE…: sets `sent` to the token request for `code`, or for a new code if it is empty. FIELD is
# the Authorization header; if it is empty, the client sends client_id.
prepare_redemption() {
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

# redeem: like prepare_redemption, and sends it. tokens FIELD NAME=VALUE…: sends another token request. introspect: the same for
# introspection.
redeem() {
  prepare_redemption "$@"
  request "$issuer/token" "${sent[@]}"
}
tokens() {
  form -- "${@:2}"
  request "$issuer/token" "${sent[@]}" ${1:+--header "Authorization: $1"}
}
introspect() {
  form -- "${@:2}"
  request "$issuer/introspect" "${sent[@]}" ${1:+--header "Authorization: $1"}
}

# granted CLIENT CHANGE…: sets `access` and `refresh` to the tokens of a new code.
granted() {
  local field=''
  [[ -z ${secret[$1]} ]] || field=$(my "$1")
  code_of "$@"
  redeem "$1" "$field" > /dev/null
  read_tokens
}
read_tokens() {
  access=$(jq --raw-output .access_token <<< "$body")
  refresh=$(jq --raw-output .refresh_token <<< "$body")
}

# show_token FIELD: requests userinfo with this Authorization.
show_token() { request "$issuer/userinfo" --header "Authorization: $1"; }

# at_once COUNT OPTION…: sends COUNT concurrent token requests; sets `many` to the bodies, one per line.
at_once() {
  rm -f "$work"/many.*
  curl --silent --parallel --parallel-immediate --max-time 20 --output "$work/many.#1" "$issuer/token#[1-$1]" "${@:2}" &> /dev/null
  many=$(for body in "$work"/many.*; do tr -d '\n' < "$body"; echo; done)
  printf '> %d at once, of which %d get tokens\n' "$1" "$(grep --count '"access_token"' <<< "$many")"
}
# count_different MEMBER: prints how many different values `many` has.
count_different() { grep --only-matching "\"$1\":\"[^\"]*\"" <<< "$many" | sort --unique | wc --lines; }

# altered TOKEN: prints it with another character in the middle.
altered() {
  local half=$((${#1} / 2)) letter=A
  [[ ${1:half:1} == A ]] && letter=B
  printf %s "${1:0:half}$letter${1:half+1}"
}

# row VECTOR COMMAND…: checks that the response matches `like`. `empty_body` is in the head of a response without a body.
row() {
  "${@:2}"
  expect "${like[@]}" "$1"
}
empty_body='Content-Length: 0'
odd="%00'%22*%25_../%7B%7D%C3%A9%E2%80%A8"

curl --silent --output /dev/null --cookie-jar "$work/jar" --json '{"username":"alice","password":"wonderland"}' "http://127.0.0.1:$port/api/auth/"
for name in "${!uri[@]}"; do
  curl --silent --output /dev/null --cookie "$work/jar" --request PUT --json '{"scope":"read write"}' "http://127.0.0.1:$port/api/auth/grant/${id[$name]}"
done

source ./findings.sh
