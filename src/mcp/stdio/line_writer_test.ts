import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LineWriter } from "./line_writer.ts";

const test = suite("mcp/stdio: lines that are written");

test("the output ends after all lines that were written without waiting", async () => {
  const chunks: string[] = [];
  const writer = new LineWriter(
    new WritableStream<Uint8Array>({
      async write(chunk) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        chunks.push(new TextDecoder().decode(chunk));
      },
    }),
  );
  const lines = ["first", "x".repeat(70_000), "last"];
  for (const line of lines) writer.send(line);
  await writer.finish();
  assert.equal(chunks.join(""), lines.join("\n") + "\n");
});

test("an output that fails without a reason is a failure", async () => {
  const writer = new LineWriter(new WritableStream<Uint8Array>({ write: () => Promise.reject(undefined) }));
  writer.send("lost");
  assert.is(await writer.finish().then(() => "ended", () => "failed"), "failed");
});

test.run();
