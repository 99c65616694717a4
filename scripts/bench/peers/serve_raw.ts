/**
 * The floor: bare `node:http` that reads the body and responds with JSON.
 *
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveParent } from "./child.ts";

const text = JSON.stringify({
  access_token: "x".repeat(43),
  token_type: "Bearer",
  expires_in: 7200,
  scope: "read",
});
const headers = { "content-type": "application/json", "content-length": text.length };
const server = createServer((request, response) => {
  request.on("data", () => {});
  request.on("end", () => response.writeHead(200, headers).end(text));
});
server.listen(0, "127.0.0.1", () => serveParent((server.address() as AddressInfo).port, async () => {}));
