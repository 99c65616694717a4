# Findings of RESULTS.md in jayson, by hand. See ../by_hand_jsonrpc.sh.
#
#     npm ci --prefix conformance/targets/jayson
#     bash conformance/targets/jayson/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"
serve "$url" node server.mjs "$port"

finding 'a batch of nothing but arrays is never answered'
rpc '[[{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]]' --max-time 8
expect 000 'curl ended with 28' batch/inner-array # timeout
rpc '[[1]]' --max-time 3
expect 000 'curl ended with 28'
rpc '[{"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": [42, 23]}, []]' # beside a request it is ignored
expect_json 200 '[{"jsonrpc": "2.0", "id": 1, "result": 19}]'
rpc '[{"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": [42, 23]}, 1]' # a number is not
expect_json 200 '[{"jsonrpc": "2.0", "id": 1, "result": 19}, {"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}]'

finding 'over HTTP, text that is not JSON gets no JSON either'
while read -r vector text; do
  rpc "$text"
  [[ $status == 400 && $body == 'SyntaxError: '* && ! ${head,,} =~ content-type ]]
  check '400, SyntaxError: …, without a type' "$vector"
done < <(not_json)
# The package's TCP server does respond.
body=$(timeout 20 node --input-type=commonjs -e '
  const server = require("jayson").server({}).tcp().listen(0, "127.0.0.1", () => {
    const socket = require("net").connect(server.address().port, "127.0.0.1");
    socket.on("data", (data) => { process.stdout.write(data); process.exit(); });
    socket.write("{\"jsonrpc\": \"2.0\",\n");
  });')
status=TCP
echo "< $body"
expect_json TCP '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700}}'

finding 'an id of null makes a notification'
call '"jsonrpc": "2.0", "id": null'
expect_empty 204 request/id-null
rpc '{"jsonrpc": "2.0", "id": null, "method": "subtract", "params": [42, 23]}'
expect_empty 204
