import { inflate } from "./inflate.ts";
import { testInflate } from "./test_inflate.ts";

testInflate("skills/archive/inflate", async (packed, size) => {
  const bytes = new Uint8Array(size);
  await inflate(packed, bytes);
  return bytes;
});
