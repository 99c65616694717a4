/**
 * The upstream of the soak: one tool, over stdio, or over HTTP on the port that its argument names, with a session that ends
 * with the process. Over stdio it writes its process id to standard error. Without imports of the project, so that it starts
 * quickly.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import process from "node:process";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number;
  readonly method: string;
}

/** Sends the response to a request. */
function answer({ id, method }: Message, send: (response: object) => void): void {
  const respond = (members: object): void => send({ jsonrpc: "2.0", id, ...members });
  switch (method) {
    case "initialize": {
      const capabilities = { tools: { listChanged: true } };
      const serverInfo = { name: "soak", version: "1" };
      return respond({ result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
    }
    case "tools/list":
      return respond({ result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } });
    case "tools/call":
      // Some calls run when the process is killed.
      return void setTimeout(() => respond({ result: { content: [] } }), Math.random() * 10);
    default:
      return respond({ error: { code: -32601, message: "Method not found" } });
  }
}

function serveStdio(): void {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message: Message = JSON.parse(line);
    if (message.id === undefined) return;
    if (message.method === "initialize") process.stderr.write(`${process.pid}\n`);
    answer(message, (response) => void process.stdout.write(JSON.stringify(response) + "\n"));
  });
}

function serveHttp(port: number): void {
  const session = String(process.pid);
  createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const part of request) text += part;
    const message: Message = request.method === "POST" ? JSON.parse(text) : { method: "" };
    if (message.method !== "initialize" && request.headers["mcp-session-id"] !== session) {
      return response.writeHead(404).end();
    }
    if (request.method === "GET") {
      // A stream that stays open until the process ends.
      return response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
    }
    if (message.id === undefined) return response.writeHead(202).end();
    answer(message, (body) => {
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": session });
      response.end(JSON.stringify(body));
    });
  }).listen(port, "127.0.0.1");
}

const [port] = process.argv.slice(2);
if (port === undefined) serveStdio();
else serveHttp(Number(port));
