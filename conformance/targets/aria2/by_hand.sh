# Findings of RESULTS.md in aria2, by hand. See ../by_hand_jsonrpc.sh. Debian package aria2.
#
#     bash conformance/targets/aria2/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"
serve "$url" aria2c --no-conf --enable-rpc --rpc-listen-port="$port" --quiet
url+=jsonrpc # its JSON-RPC endpoint

invalid='{"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}'
program='{"jsonrpc": "2.0", "id": "a", "error": {"code": 1}}' # the program's own code

finding 'no notifications over HTTP'
call '"jsonrpc": "2.0"'
expect_json 400 "$invalid" notification/unknown
call '"jsonrpc": "2.0", "params": {"a": 1}'
expect_json 400 "$invalid" notification/by-name
call '"jsonrpc": "2.0", "params": [1, 2]'
expect_json 400 "$invalid" notification/by-position
for params in '' ', "params": []' ', "params": {}'; do
  call "\"jsonrpc\": \"2.0\"$params"
  expect_json 400 "$invalid" notification/several
done
rpc '[{"jsonrpc": "2.0", "method": "conformance.no_such_method"},
  {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": []}]'
expect_json 200 "[$invalid, $invalid]" batch/notifications-alone
rpc '[{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"},
  {"jsonrpc": "2.0", "method": "conformance.no_such_method"}]'
expect_json 200 "[$program, $invalid]" batch/request-and-notification
# The method does not run either: the option is unchanged.
rpc '{"jsonrpc": "2.0", "method": "aria2.changeGlobalOption", "params": [{"max-concurrent-downloads": "9"}]}'
expect_json 400 "$invalid"
rpc '{"jsonrpc": "2.0", "id": 1, "method": "aria2.getGlobalOption"}'
expect 200 '"max-concurrent-downloads":"5"'

finding 'no numbers with a fraction'
call '"jsonrpc": "2.0", "id": 1.5'
expect_json 400 '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}' request/id-fraction
call '"jsonrpc": "2.0", "id": 1e3' # a thousand
expect_json 400 '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}' request/id-exponent

finding 'an unknown method has a code of the program'
call '"jsonrpc": "2.0", "id": "a", "params": []'
expect_json 400 "$program" request/unknown-method-positions
for each in empty: constructor:constructor proto:__proto__ tostring:toString hasownproperty:hasOwnProperty \
  reserved:rpc.conformance_no_such_extension; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"${each#*:}\"}"
  expect_json 400 "$program" "request/method-${each%%:*}"
done
# So do wrong parameters and aria2's own errors.
for params in '[]' '[7]' '["0000000000000001"]'; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"aria2.tellStatus\", \"params\": $params}"
  expect_json 400 "$program"
done

finding 'an unknown method with parameters by name is -32602'
call '"jsonrpc": "2.0", "id": "a", "params": {}'
expect_json 500 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32602}}' request/unknown-method
rpc '{"jsonrpc": "2.0", "id": "a", "method": "aria2.getVersion", "params": {}}' # like a known method
expect_json 500 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32602}}'

finding 'values of a batch that are no objects are left out'
rpc '[]'
expect_json 200 '[]' batch/empty
rpc '[1]'
expect_json 200 '[]' batch/one-number
rpc '[1, 2, 3]'
expect_json 200 '[]' batch/three-numbers
rpc '[[{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]]'
expect_json 200 '[]' batch/inner-array
rpc '[null]'
expect_json 200 '[]' batch/null-value
rpc '[1, {"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]'
expect_json 200 "[$program]"

finding 'jsonrpc is not read, nor the type of id'
call '"id": "a", "params": {}'
expect_json 500 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32602}}' invalid_request/jsonrpc-missing
for each in one:'"1.0"' number:2 longer:'"2.0.0"' null:null; do
  call "\"jsonrpc\": ${each#*:}, \"id\": \"a\""
  expect_json 400 "$program" "invalid_request/jsonrpc-${each%%:*}"
done
call '"JSONRPC": "2.0", "id": "a"'
expect_json 400 "$program" invalid_request/jsonrpc-capitals
rpc '{"jsonrpc": "1.0", "id": 1, "method": "aria2.getVersion"}'
expect 200 '"result":.*"version":"1\.36\.0"'
for each in object:'{}' list:'["a"]' boolean:true; do
  call "\"jsonrpc\": \"2.0\", \"id\": ${each#*:}"
  expect_json 400 "{\"jsonrpc\": \"2.0\", \"id\": ${each#*:}, \"error\": {\"code\": 1}}" "invalid_request/id-${each%%:*}"
done

finding 'its reader of JSON takes more than JSON'
while read -r vector text; do
  rpc "$text"
  expect_json 400 '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}' "$vector"
done < <(not_json | grep -E '^parse_error/(trailing-comma|two-values|bad-escape|leading-zero) ')

finding 'a number as document is a parse error'
rpc 1
expect_json 500 '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700}}' invalid_request/number
rpc true # other JSON that is not a request returns the right code
expect_json 400 "$invalid"
