# Findings of RESULTS.md in JSON::RPC, by hand. See ../by_hand_jsonrpc.sh. Debian package libjson-rpc-perl,
# which brings plackup.
#
#     bash conformance/targets/libjson-rpc-perl/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"
serve "$url" plackup --host 127.0.0.1 --port "$port" --env deployment app.psgi

# refused CODE [VECTOR…]: checks that the last response is only an error with this code, without jsonrpc and id.
refused() { expect_json 200 "{\"error\": {\"code\": $1}}" "${@:2}"; }

finding 'errors that the library finds have neither jsonrpc nor id'
while read -r vector id; do
  call "\"jsonrpc\": \"2.0\", \"id\": $id"
  refused -32601 "request/$vector"
done << 'END'
id-text "a-7"
id-number 7
id-zero 0
id-negative -3
id-empty ""
id-digits "12"
id-unicode "é—☃"
id-large 9007199254740991
id-fraction 1.5
id-exponent 1e3
id-null null
END
while read -r vector params; do
  call "\"jsonrpc\": \"2.0\", \"id\": \"a\", \"params\": $params"
  refused -32601 "$vector"
done << 'END'
request/unknown-method {}
request/unknown-method-positions []
invalid_request/params-text "bar"
invalid_request/params-number 1
invalid_request/params-boolean false
invalid_request/params-null null
END
while read -r vector method; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": $method}"
  refused -32601 "$vector"
done << 'END'
request/method-empty ""
request/method-constructor "constructor"
request/method-proto "__proto__"
request/method-tostring "toString"
request/method-hasownproperty "hasOwnProperty"
request/method-reserved "rpc.conformance_no_such_extension"
examples/method-in-capitals "SUBTRACT"
examples/unknown-method "foobar"
END
for id in a b; do
  call "\"jsonrpc\": \"2.0\", \"id\": \"$id\""
  refused -32601 request/two-one-after-another
done
# After a notification, which rightly has no response, and after a refusal.
while read -r vector answer text; do
  rpc "$text"
  if [[ $answer == 204 ]]; then expect_empty 204; else refused "$answer"; fi
  call '"jsonrpc": "2.0", "id": "after"'
  refused -32601 "$vector"
done << 'END'
notification/unknown 204 {"jsonrpc": "2.0", "method": "conformance.no_such_method"}
notification/by-name 204 {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": {"a": 1}}
notification/by-position 204 {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": [1, 2]}
notification/reserved 204 {"jsonrpc": "2.0", "method": "rpc.conformance_no_such_extension"}
notification/wrong-parameters 204 {"jsonrpc": "2.0", "method": "subtract", "params": ["a", {}]}
batch/notifications-alone 204 [{"jsonrpc": "2.0", "method": "conformance.no_such_method"}, {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": []}]
invalid_request/server-goes-on -32601 {"jsonrpc": "2.0", "method": 1, "id": "a"}
parse_error/server-goes-on -32700 {"jsonrpc": "2.0",
END
for params in '' ', "params": []' ', "params": {}'; do
  call "\"jsonrpc\": \"2.0\"$params"
  expect_empty 204
done
call '"jsonrpc": "2.0", "id": "after"'
refused -32601 notification/several
while read -r vector text; do
  rpc "$text"
  refused -32700 "$vector"
done < <(not_json)
rpc '[]'
refused -32600 batch/empty examples/batch-empty
for each in number:1 text:'"1"' true:true; do
  rpc "${each#*:}"
  refused -32600 "invalid_request/${each%%:*}"
  expect 200 'HASH ref.* at .*/JSON/RPC/Parser\.pm line [0-9]+' # the message contains the library's file name
done
nothing='{"error": {"code": -32601}}'
one='{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}'
rpc "[$one]"
expect_json 200 "[$nothing]" batch/one-request
rpc "[$one, ${one/\"a\"/\"b\"}]"
expect_json 200 "[$nothing, $nothing]" batch/two-requests # the responses cannot be matched to requests
rpc "[$one, $one]"
expect_json 200 "[$nothing, $nothing]" batch/same-id-twice
rpc "[$one, {\"jsonrpc\": \"2.0\", \"method\": \"conformance.no_such_method\"}]"
expect_json 200 "[$nothing]" batch/request-and-notification
rpc '{"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": [42, 23]}' # a method's result has both
expect_json 200 '{"jsonrpc": "2.0", "id": 1, "result": 19}'

call '"jsonrpc": "2.0", "id": "a"'
refused -32601 request/params-left-out
for count in 40 150 600; do
  request_of_batch='{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}'
  rpc "[$request_of_batch$(printf ", $request_of_batch%.0s" $(seq 2 "$count"))]"
  [[ $status == 200 && $(grep -o '"error":' <<< "$body" | wc -l) == "$count" && $body != *'"jsonrpc"'* ]]
  check "200, $count errors without jsonrpc and id" "batch/of-$count"
done

finding 'what a handler dies of is -32603'
while read -r vector params; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"subtract\"$params}"
  expect_json 200 '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32603}}' "examples/$vector"
done << 'END'
wrong-parameters , "params": ["a", {}]
names-in-capitals , "params": {"MINUEND": 42, "SUBTRAHEND": 23}
name-missing , "params": {"minuend": 42}
parameters-left-out
END

finding 'one value of a batch that is no object spoils it'
rpc '[1]'
refused -32602 batch/one-number examples/batch-of-one-number
rpc '[1, 2, 3]'
refused -32602 batch/three-numbers examples/batch-of-numbers
rpc "[[$one]]"
refused -32602 batch/inner-array
rpc '[null]'
refused -32602 batch/null-value
rpc '[{"jsonrpc": "2.0", "id": 1, "method": "get_data"}, 1]' # the request beside it has no response
refused -32602

finding 'no method is -32601'
for each in method-missing:'{"jsonrpc": "2.0", "id": "a", "params": {}}' \
  method-null:'{"jsonrpc": "2.0", "id": "a", "method": null}' \
  method-capitals:'{"jsonrpc": "2.0", "id": "a", "Method": "conformance.no_such_method"}' empty-object:'{}' null:null; do
  rpc "${each#*:}"
  refused -32601 "invalid_request/${each%%:*}"
done
rpc "[{\"foo\": \"boo\"}, $one]"
expect_json 200 "[$nothing, $nothing]" batch/bad-beside-good
rpc "$mixed"
expect_json 200 "[{\"jsonrpc\": \"2.0\", \"id\": \"1\", \"result\": 7}, {\"jsonrpc\": \"2.0\", \"id\": \"2\", \"result\": 19}, \
$nothing, $nothing, {\"jsonrpc\": \"2.0\", \"id\": \"9\", \"result\": [\"hello\", 5]}]" examples/batch-mixed

finding 'jsonrpc and the type of params are not read'
call '"id": "a", "params": {}'
refused -32601 invalid_request/jsonrpc-missing
for each in one:'"1.0"' number:2 longer:'"2.0.0"' null:null; do
  call "\"jsonrpc\": ${each#*:}, \"id\": \"a\""
  refused -32601 "invalid_request/jsonrpc-${each%%:*}"
done
call '"JSONRPC": "2.0", "id": "a"'
refused -32601 invalid_request/jsonrpc-capitals
for each in text:'"bar"' number:7 boolean:false null:null; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"get_data\", \"params\": ${each#*:}}"
  expect_json 200 '{"jsonrpc": "2.0", "id": "a", "result": ["hello", 5]}' "examples/params-${each%%:*}"
done
rpc '{"jsonrpc": "2.0", "id": 1, "method": "subtract", "params": "bar"}' # the handler receives the string
expect 200 '-32603.*at .*app\.psgi line [0-9]+|at .*app\.psgi line [0-9]+.*-32603'

finding 'the types of method and id are not read'
rpc '{"jsonrpc": "2.0", "method": 1, "params": "bar"}'
expect_empty 204 examples/invalid-request
rpc '{"jsonrpc": "2.0", "id": "a", "method": 1}'
refused -32601 invalid_request/method-number
rpc '{"jsonrpc": "2.0", "id": "a", "method": ["conformance.no_such_method"]}'
expect 500 'Internal Server Error' invalid_request/method-list # from plackup: the router threw
rpc '{"jsonrpc": "2.0", "id": "a", "method": ["subtract"], "params": [42, 23]}'
expect 500 'Internal Server Error' examples/method-in-list
rpc '{"jsonrpc": "2.0", "id": "a", "method": {"PATH_INFO": "get_data"}}' # the router treats it as a PSGI request
expect_json 200 '{"jsonrpc": "2.0", "id": "a", "result": ["hello", 5]}'
for each in object:'{}' list:'["a"]' boolean:true; do
  call "\"jsonrpc\": \"2.0\", \"id\": ${each#*:}"
  refused -32601 "invalid_request/id-${each%%:*}"
done
rpc '{"jsonrpc": "2.0", "id": {}, "method": "get_data"}'
expect_json 200 '{"jsonrpc": "2.0", "id": {}, "result": ["hello", 5]}'
