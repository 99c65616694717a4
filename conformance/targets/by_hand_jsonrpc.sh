# Functions for the by_hand.sh of JSON-RPC servers, beside those of by_hand.sh: posting a text, comparing a response, and
# texts that are not JSON. A target's own by_hand.sh sources this file and starts its server at $port; rpc posts to $url.
source "$(dirname "${BASH_SOURCE[0]}")/by_hand.sh"
port=$(free_port)
url="http://127.0.0.1:$port/"

# rpc TEXT [option of curl…]: posts the text as JSON.
rpc() { request "$url" -H 'Content-Type: application/json' --data-binary "$1" "${@:2}"; }

# call MEMBERS: posts a request with these members and an unknown method.
call() { rpc "{$1, \"method\": \"conformance.no_such_method\"}"; }

# expect_json STATUS JSON [VECTOR…]: checks that the last response has this status and this JSON, except message and data.
expect_json() {
  [[ $status == "$1" && $(bare <<< "$body") == "$(bare <<< "$2")" ]]
  check "$1, $2" "${@:3}"
}

# bare < JSON: prints it on one line with sorted keys, without message and data.
bare() { jq -cS 'walk(if type == "object" then del(.message, .data) else . end)' 2>&1; }

# expect_empty STATUS [VECTOR…]: checks that the last response has this status and no body.
expect_empty() {
  [[ $status == "$1" && -z $body ]]
  check "$1, no body" "${@:2}"
}

# not_json: prints lines of a vector and its invalid JSON text, for `while read -r vector text`.
not_json() {
  cat << 'END'
parse_error/cut {"jsonrpc": "2.0", "method": "x", "id": 1
parse_error/bare-word {"jsonrpc": "2.0", "method": foo, "id": 1}
parse_error/single-quotes {'jsonrpc': '2.0', 'method': 'x', 'id': 1}
parse_error/trailing-comma {"jsonrpc": "2.0", "method": "x", "id": 1,}
parse_error/comment {"jsonrpc": "2.0", /* c */ "method": "x", "id": 1}
parse_error/two-values {"jsonrpc": "2.0", "method": "x", "id": 1} {"jsonrpc": "2.0", "method": "x", "id": 2}
parse_error/not-a-number {"jsonrpc": "2.0", "method": "x", "id": NaN}
parse_error/bad-escape {"jsonrpc": "2.0", "method": "\x41", "id": 1}
parse_error/leading-zero {"jsonrpc": "2.0", "method": "x", "id": 01}
batch/not-json [{"jsonrpc": "2.0", "method": "x", "id": 1}, {"jsonrpc"
examples/parse-error {"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]
examples/batch-not-json [{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]
END
}

# The mixed batch of the specification: requests, a notification, and an invalid request.
mixed='[{"jsonrpc": "2.0", "id": "1", "method": "sum", "params": [1, 2, 4]},
  {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
  {"jsonrpc": "2.0", "id": "2", "method": "subtract", "params": [42, 23]},
  {"foo": "boo"},
  {"jsonrpc": "2.0", "id": "5", "method": "foobar", "params": {"name": "myself"}},
  {"jsonrpc": "2.0", "id": "9", "method": "get_data"}]'
