/**
 * The feature server over standard input and output. Only tests start this.
 *
 * @module
 */
import process from "node:process";
import { createFeatureServers } from "./test_feature_server.ts";

const input = new ReadableStream<Uint8Array>({
  start(controller) {
    process.stdin.on("data", (chunk: Uint8Array) => controller.enqueue(new Uint8Array(chunk)));
    process.stdin.on("end", () => controller.close());
  },
});
const output = new WritableStream<Uint8Array>({
  write: (chunk) =>
    new Promise<void>((resolve, reject) => {
      process.stdout.write(chunk, (error) => error ? reject(error) : resolve());
    }),
});
await createFeatureServers("http://127.0.0.1", 1)[0]!.mcp!.serveStdio(input, output);
