/**
 * The upstream of the soak: one tool, over stdio. Writes its process id to standard error. Without imports of the project,
 * so that it starts quickly.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";

const send = (message: object): void =>
  void process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  switch (method) {
    case "initialize": {
      process.stderr.write(`${process.pid}\n`);
      const capabilities = { tools: { listChanged: true } };
      const serverInfo = { name: "soak", version: "1" };
      return send({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
    }
    case "tools/list":
      return send({ id, result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } });
    case "tools/call":
      // Some calls run when the process is killed.
      return void setTimeout(() => send({ id, result: { content: [] } }), Math.random() * 10);
    default:
      return send({ id, error: { code: -32601, message: "Method not found" } });
  }
});
