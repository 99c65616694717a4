/**
 * json-rpc-2.0 behind HTTP, with the example methods of the specification. The library carries nothing itself; its README
 * gives a handler, with `receiveJSON` for text. Here a rejected promise is answered with 500, where the README's handler has
 * nothing for it.
 *
 *   node server.mjs PORT
 */
import { createServer } from "node:http";
import process from "node:process";
import { text } from "node:stream/consumers";
import { JSONRPCErrorCode, JSONRPCErrorException, JSONRPCServer } from "json-rpc-2.0";

const server = new JSONRPCServer();

/** What `values` has, where it is numbers alone. */
function numbers(values) {
  if (
    Array.isArray(values) && values.every((each) => typeof each === "number")
  ) return values;
  throw new JSONRPCErrorException(
    "Invalid params",
    JSONRPCErrorCode.InvalidParams,
  );
}

server.addMethod("subtract", (params) => {
  const [minuend, subtrahend] = numbers(
    Array.isArray(params) ? params.slice(0, 2) : [params?.minuend, params?.subtrahend],
  );
  return minuend - subtrahend;
});
server.addMethod(
  "sum",
  (params) => numbers(params).reduce((sum, each) => sum + each, 0),
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
