# What the by_hand.sh of the JSON-RPC servers share, besides the words of by_hand.sh: how a text is posted, how an
# answer is compared, and the texts that are not JSON. A target's own by_hand.sh takes both from here; it starts its
# server at $port, and rpc posts to $url.
source "$(dirname "${BASH_SOURCE[0]}")/by_hand.sh"
port=$(free_port)
url="http://127.0.0.1:$port/"

# rpc TEXT [option of curl…]: posts the text as JSON.
rpc() { ask "$url" -H 'Content-Type: application/json' --data-binary "$1" "${@:2}"; }

# call REST: posts a request of a method that there is not, with this beside it.
call() { rpc "{$1, \"method\": \"conformance.no_such_method\"}"; }

# same STATUS JSON [VECTOR…]: the last answer has this status and is this JSON, but for the texts of its errors.
same() {
  [[ $status == "$1" && $(bare <<< "$body") == "$(bare <<< "$2")" ]]
  proven "$1, $2" "${@:3}"
}

# bare < JSON: it on one line, its keys in order, without the texts of errors.
bare() { jq -cS 'walk(if type == "object" then del(.message, .data) else . end)' 2>&1; }

# silent STATUS [VECTOR…]: the last answer has this status and no body.
silent() {
  [[ $status == "$1" && -z $body ]]
  proven "$1, no body" "${@:2}"
}

# not_json: lines of a vector and the text that it sends, which is not JSON; for `while read -r vector text`.
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

# The specification's batch of everything: requests, a notification, and a value that is none.
mixed='[{"jsonrpc": "2.0", "id": "1", "method": "sum", "params": [1, 2, 4]},
  {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
  {"jsonrpc": "2.0", "id": "2", "method": "subtract", "params": [42, 23]},
  {"foo": "boo"},
  {"jsonrpc": "2.0", "id": "5", "method": "foobar", "params": {"name": "myself"}},
  {"jsonrpc": "2.0", "id": "9", "method": "get_data"}]'
