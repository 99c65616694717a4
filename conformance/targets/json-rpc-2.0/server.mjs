/**
 * json-rpc-2.0 behind HTTP, with the example methods of the specification. The library has no transport; its README has a
 * handler, with `receiveJSON` for text. This file answers a rejected promise with 500, which the README's handler does not
 * handle.
 *
 *   node server.mjs PORT
 */
import { createServer } from "node:http";
import process from "node:process";
import { text } from "node:stream/consumers";
import { JSONRPCErrorCode, JSONRPCErrorException, JSONRPCServer } from "json-rpc-2.0";

const server = new JSONRPCServer();

/** Returns `values` if they are all numbers. @throws otherwise */
function requireNumbers(values) {
  if (
    Array.isArray(values) && values.every((each) => typeof each === "number")
  ) return values;
  throw new JSONRPCErrorException(
    "Invalid params",
    JSONRPCErrorCode.InvalidParams,
  );
}

server.addMethod("subtract", (params) => {
  const [minuend, subtrahend] = requireNumbers(
    Array.isArray(params) ? params.slice(0, 2) : [params?.minuend, params?.subtrahend],
  );
  return minuend - subtrahend;
});
server.addMethod(
  "sum",
  (params) => requireNumbers(params).reduce((sum, each) => sum + each, 0),
);
server.addMethod("get_data", () => ["hello", 5]);
server.addMethod("update", () => null);
server.addMethod("notify_hello", () => null);
server.addMethod("notify_sum", () => null);

createServer(async (request, response) => {
  try {
    const answer = await server.receiveJSON(await text(request));
    if (answer) {
      response.setHeader("content-type", "application/json").end(
        JSON.stringify(answer),
      );
    } else response.writeHead(204).end();
  } catch {
    response.writeHead(500).end();
  }
}).listen(Number(process.argv[2]), "127.0.0.1");
