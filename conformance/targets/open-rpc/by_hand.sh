# Findings of RESULTS.md in @open-rpc/server-js, by hand. See ../by_hand_jsonrpc.sh.
#
#     npm ci --prefix conformance/targets/open-rpc
#     bash conformance/targets/open-rpc/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"

# as_documented: starts the package as in its README, on loopback only, without a handler for rejections.
as_documented() {
  serve "$url" node --input-type=module -e '
    import { parseOpenRPCDocument } from "@open-rpc/schema-utils-js";
    import openRpc from "@open-rpc/server-js";
    const numbers = ["a", "b"].map((name) => ({ name, schema: { type: "integer" } }));
    const openrpcDocument = await parseOpenRPCDocument({
      openrpc: "1.0.0",
      info: { title: "node-json-rpc-server example", version: "1.0.0" },
      methods: [{ name: "addition", params: numbers, result: { name: "c", schema: { type: "integer" } } }],
    });
    const server = new openRpc.Server({
      openrpcDocument,
      transportConfigs: [{ type: "HTTPTransport", options: { port: 0, middleware: [] } }],
      methodMapping: { addition: (a, b) => a + b },
    });
    server.transports[0].server.listen(Number(process.argv[1]), "127.0.0.1");
  ' "$port"
}

# ended TEXT [VECTOR…]: checks that the connection closed without a response, and that the process exited with code 1 for this
# error.
ended() {
  [[ $body == 'curl ended with 52'* ]]
  check 'closed without a response' "${@:2}"
  wait "$server"
  [[ $? == 1 ]] && grep --quiet --fixed-strings "$1" "$work/server.log"
  check "the process has ended with code 1: $1"
}

finding 'some requests end the process'
as_documented
rpc '{"jsonrpc": "2.0", "id": 1, "method": "addition", "params": [42, 23]}'
expect_json 200 '{"jsonrpc": "2.0", "id": 1, "result": 65}'
rpc '{"jsonrpc": "2.0", "id": 1, "method": "addition"}' # the document requires neither parameter
ended "Cannot read properties of undefined (reading '0')" examples/parameters-left-out
as_documented
rpc '{"jsonrpc": "2.0", "id": 1, "method": "addition", "params": null}'
ended "Cannot read properties of null (reading '0')"
as_documented
rpc '[null]'
ended "of 'object null' as it is null" batch/null-value
stop_server

serve "$url" node server.mjs "$port"
# With a listener for unhandled rejections, as in server.mjs, the request hangs instead.
rpc '{"jsonrpc": "2.0", "id": 1, "method": "subtract"}' --max-time 5
expect 000 'curl ended with 28'

finding 'notifications are answered'
result='{"jsonrpc": "2.0", "result": null}'
unknown='{"jsonrpc": "2.0", "error": {"code": -32601}}'
refused='{"jsonrpc": "2.0", "error": {"code": -32602}}'
while read -r vector answer text; do
  rpc "$text"
  expect_json 200 "${!answer}" "$vector"
done << 'END'
notification/unknown unknown {"jsonrpc": "2.0", "method": "conformance.no_such_method"}
notification/by-name unknown {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": {"a": 1}}
notification/by-position unknown {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": [1, 2]}
notification/reserved unknown {"jsonrpc": "2.0", "method": "rpc.conformance_no_such_extension"}
notification/several unknown {"jsonrpc": "2.0", "method": "conformance.no_such_method"}
notification/several unknown {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": []}
notification/several unknown {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": {}}
notification/wrong-parameters refused {"jsonrpc": "2.0", "method": "subtract", "params": ["a", {}]}
examples/update-notification result {"jsonrpc": "2.0", "method": "update", "params": [1, 2, 3, 4, 5]}
examples/unknown-notification unknown {"jsonrpc": "2.0", "method": "foobar"}
examples/failing-notification refused {"jsonrpc": "2.0", "method": "subtract", "params": {"a": 1}}
END
one='{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}'
one_unknown='{"jsonrpc": "2.0", "id": "a", "error": {"code": -32601}}'
rpc "[$one, {\"jsonrpc\": \"2.0\", \"method\": \"conformance.no_such_method\"}]"
expect_json 200 "[$one_unknown, $unknown]" batch/request-and-notification
rpc '[{"jsonrpc": "2.0", "method": "conformance.no_such_method"},
  {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": []}]'
expect_json 200 "[$unknown, $unknown]" batch/notifications-alone
rpc '[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1, 2, 4]},
  {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]'
expect_json 200 "[$result, $result]" examples/batch-of-notifications
rpc '[{"jsonrpc": "2.0", "method": "foobar"}, {"jsonrpc": "2.0", "method": "subtract", "params": {"a": 1}}]'
expect_json 200 "[$unknown, $refused]" examples/notifications-that-fail-in-a-batch
rpc "$mixed"
expect_json 200 "[{\"jsonrpc\": \"2.0\", \"id\": \"1\", \"result\": 7}, $result, \
{\"jsonrpc\": \"2.0\", \"id\": \"2\", \"result\": 19}, $unknown, \
{\"jsonrpc\": \"2.0\", \"id\": \"5\", \"error\": {\"code\": -32601}}, \
{\"jsonrpc\": \"2.0\", \"id\": \"9\", \"result\": [\"hello\", 5]}]" examples/batch-mixed

finding 'what is not JSON is answered with HTML'
while read -r vector text; do
  rpc "$text"
  [[ $status == 400 && ${head,,} =~ 'content-type: text/html' && $body =~ '<pre>SyntaxError: ' ]]
  check '400, a page with SyntaxError' "$vector"
done << END
$(not_json)
invalid_request/number 1
invalid_request/text "1"
invalid_request/null null
invalid_request/true true
END
expect 400 'node_modules/body-parser/' # file paths of the server

finding 'what is no request is an unknown method'
for each in missing:'"params": {}' number:'"method": 1' null:'"method": null' \
  list:'"method": ["conformance.no_such_method"]' capitals:'"Method": "conformance.no_such_method"'; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", ${each#*:}}"
  expect_json 200 "$one_unknown" "invalid_request/method-${each%%:*}"
done
rpc '{}'
expect_json 200 "$unknown" invalid_request/empty-object
rpc '{"jsonrpc": "2.0", "method": 1, "params": "bar"}'
expect_json 200 "$unknown" examples/invalid-request
rpc '[1]'
expect_json 200 "[$unknown]" batch/one-number examples/batch-of-one-number
rpc '[1, 2, 3]'
expect_json 200 "[$unknown, $unknown, $unknown]" batch/three-numbers examples/batch-of-numbers
rpc "[[$one]]"
expect_json 200 "[$unknown]" batch/inner-array
rpc "[{\"foo\": \"boo\"}, $one]"
expect_json 200 "[$unknown, $one_unknown]" batch/bad-beside-good
rpc '{"jsonrpc": "2.0", "id": "a", "method": ["subtract"], "params": [42, 23]}' # an array with the name calls it
expect_json 200 '{"jsonrpc": "2.0", "id": "a", "result": 19}' examples/method-in-list

finding 'an empty batch has an empty list'
rpc '[]'
expect_json 200 '[]' batch/empty examples/batch-empty

finding 'jsonrpc, id and params are not read'
call '"id": "a", "params": {}'
expect_json 200 "$one_unknown" invalid_request/jsonrpc-missing
for each in one:'"1.0"' number:2 longer:'"2.0.0"' null:null; do
  call "\"jsonrpc\": ${each#*:}, \"id\": \"a\""
  expect_json 200 "$one_unknown" "invalid_request/jsonrpc-${each%%:*}"
done
call '"JSONRPC": "2.0", "id": "a"'
expect_json 200 "$one_unknown" invalid_request/jsonrpc-capitals
for each in object:'{}' list:'["a"]' boolean:true; do
  call "\"jsonrpc\": \"2.0\", \"id\": ${each#*:}"
  expect_json 200 "{\"jsonrpc\": \"2.0\", \"id\": ${each#*:}, \"error\": {\"code\": -32601}}" "invalid_request/id-${each%%:*}"
done
for each in text:'"bar"' number:7 boolean:false null:null; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"get_data\", \"params\": ${each#*:}}"
  expect_json 200 '{"jsonrpc": "2.0", "id": "a", "result": ["hello", 5]}' "examples/params-${each%%:*}"
done
rpc '{"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": "bar"}'
expect 200 '-32602.*"receievedParam":"b"' # a character of it; the library's spelling
expect 200 '[Aa]ccess-[Cc]ontrol-[Aa]llow-[Oo]rigin: \*' # see below the table of the section

stop_server
NODE_ENV=production serve "$url" node server.mjs "$port"
rpc 1
expect 400 '<pre>Bad Request</pre>' # without the error and its paths
