# Findings of RESULTS.md in json-rpc-2.0, by hand. See ../by_hand_jsonrpc.sh.
#
#     npm ci --prefix conformance/targets/json-rpc-2.0
#     bash conformance/targets/json-rpc-2.0/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"

finding 'with the README'"'"'s handler, null in a batch ends the process'
serve "$url" node server.mjs "$port"
rpc '[null]'
expect_empty 500 batch/null-value # server.mjs returns this where `receive` rejects
node --input-type=module -e '
  import { JSONRPCServer } from "json-rpc-2.0";
  await new JSONRPCServer().receive([null]).catch((error) => console.log("rejected:", error.message));
' > "$work/receive"
body=$(< "$work/receive")
echo "< $body"
[[ $body == "rejected: Cannot read properties of null (reading 'method')" ]]
check 'receive rejects'
stop_server
# The README's handler, without Express and body-parser: the same promise chain, without a catch.
serve "$url" node --input-type=module -e '
  import { createServer } from "node:http";
  import { json } from "node:stream/consumers";
  import { JSONRPCServer } from "json-rpc-2.0";
  const server = new JSONRPCServer();
  server.addMethod("echo", ({ text }) => text);
  createServer(async (req, res) => {
    if (req.method !== "POST") return res.end();
    const jsonRPCRequest = await json(req);
    server.receive(jsonRPCRequest).then((jsonRPCResponse) => {
      if (jsonRPCResponse) res.setHeader("content-type", "application/json").end(JSON.stringify(jsonRPCResponse));
      else res.writeHead(204).end();
    });
  }).listen(Number(process.argv[1]), "127.0.0.1");
' "$port"
rpc '{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"text": "a"}}'
expect_json 200 '{"jsonrpc": "2.0", "id": 1, "result": "a"}'
rpc '[null]'
expect 000 'curl ended with 52' # closed without a response
wait "$server"
[[ $? == 1 ]] && grep --quiet "Cannot read properties of null (reading 'method')" "$work/server.log"
check 'the process has ended with code 1'

stop_server
serve "$url" node server.mjs "$port"

finding 'the types of method and params are not read'
for each in number:1 null:null list:'["conformance.no_such_method"]'; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": ${each#*:}}"
  expect_json 200 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32601}}' "invalid_request/method-${each%%:*}"
done
rpc '{"jsonrpc": "2.0", "method": 1, "params": "bar"}'
expect_empty 204 examples/invalid-request
rpc '{"jsonrpc": "2.0", "id": "a", "method": ["subtract"], "params": [42, 23]}'
expect_json 200 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32601}}' examples/method-in-list
for each in text:'"bar"' number:7 boolean:false null:null; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"get_data\", \"params\": ${each#*:}}"
  expect_json 200 '{"jsonrpc": "2.0", "id": "a", "result": ["hello", 5]}' "examples/params-${each%%:*}"
done

finding 'the type of id is not read'
for each in object:'{}' list:'["a"]' boolean:true; do
  call "\"jsonrpc\": \"2.0\", \"id\": ${each#*:}"
  expect_json 200 "{\"jsonrpc\": \"2.0\", \"id\": ${each#*:}, \"error\": {\"code\": -32601}}" "invalid_request/id-${each%%:*}"
done

finding 'null is taken for text that is not JSON'
rpc null
expect_json 200 '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700}}' invalid_request/null
rpc true # other JSON that is not a request returns the right code
expect_json 200 '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}'

finding 'a batch of one is answered without a list'
rpc '[{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]'
expect_json 200 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32601}}' batch/one-request
rpc '[1]'
expect_json 200 '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}' batch/one-number examples/batch-of-one-number
rpc '[{"jsonrpc": "2.0", "id": 1, "method": "get_data"}, {"jsonrpc": "2.0", "method": "get_data"}]'
expect_json 200 '{"jsonrpc": "2.0", "id": 1, "result": ["hello", 5]}'
