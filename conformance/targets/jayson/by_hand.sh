# Findings of RESULTS.md in jayson, by hand. See ../by_hand.sh.
#
#     npm ci --prefix conformance/targets/jayson
#     bash conformance/targets/jayson/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"
port=$(free_port)
url="http://127.0.0.1:$port/"
serve "$url" node server.mjs "$port"

# rpc TEXT [option of curl…]: posts the text as JSON.
rpc() { ask "$url" -H 'Content-Type: application/json' --data-binary "$1" "${@:2}"; }

# same STATUS JSON [VECTOR…]: the last answer has this status and is this JSON, but for the texts of its errors.
same() {
  [[ $status == "$1" && $(bare <<< "$body") == "$(bare <<< "$2")" ]]
  proven "$1, $2" "${@:3}"
}
bare() { jq -cS 'walk(if type == "object" then del(.message, .data) else . end)' 2>&1; }

finding 'a batch of nothing but arrays is never answered'
rpc '[[{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]]' --max-time 8
told 000 'curl ended with 28' batch/inner-array # no answer in time
rpc '[[1]]' --max-time 3
told 000 'curl ended with 28'
rpc '[{"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": [42, 23]}, []]' # beside a request it is left out
same 200 '[{"jsonrpc": "2.0", "id": 1, "result": 19}]'
rpc '[{"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": [42, 23]}, 1]' # a number is not
same 200 '[{"jsonrpc": "2.0", "id": 1, "result": 19}, {"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}]'

finding 'over HTTP, text that is not JSON gets no JSON either'
while read -r vector text; do
  rpc "$text"
  [[ $status == 400 && $body == 'SyntaxError: '* && ! ${head,,} =~ content-type ]]
  proven '400, SyntaxError: …, without a type' "$vector"
done << 'END'
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
# The package's TCP server does answer.
body=$(timeout 20 node --input-type=commonjs -e '
  const server = require("jayson").server({}).tcp().listen(0, "127.0.0.1", () => {
    const socket = require("net").connect(server.address().port, "127.0.0.1");
    socket.on("data", (data) => { process.stdout.write(data); process.exit(); });
    socket.write("{\"jsonrpc\": \"2.0\",\n");
  });')
status=TCP
echo "< $body"
same TCP '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700}}'

finding 'an id of null makes a notification'
rpc '{"jsonrpc": "2.0", "id": null, "method": "conformance.no_such_method"}'
[[ $status == 204 && -z $body ]]
proven '204, no body' request/id-null
rpc '{"jsonrpc": "2.0", "id": null, "method": "subtract", "params": [42, 23]}'
[[ $status == 204 && -z $body ]]
proven '204, no body'
