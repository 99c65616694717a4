import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { withoutRemoving } from "../../store/test_without_removing.ts";
import { digestOf } from "../content_digest.ts";
import { readAll, storeBlobs } from "./blob_store.ts";

const test = suite("skills/blobs/blob_store");

for (const size of [0, 1, 512 * 1024 - 1, 512 * 1024, 512 * 1024 + 1, 2_000_000]) {
  test(`storeBlobs() streams ${size} bytes in and out`, async () => {
    const blobs = storeBlobs(memoryStore());
    const bytes = new Uint8Array(size).map((_, i) => i * 31);
    const stream = new Response(bytes).body ??
      new ReadableStream({ start: (controller) => controller.close() });
    await blobs.put("store/x/1", stream, size, await digestOf(bytes));
    const found = await readAll((await blobs.get("store/x/1"))!, size);
    assert.is(await digestOf(found), await digestOf(bytes));
    await blobs.remove("store/x/1");
    assert.is(await blobs.get("store/x/1"), undefined);
    await blobs.remove("store/x/1");
  });
}

test("storeBlobs().remove() ends on a store that confirms removals without removing", async () => {
  const store = memoryStore();
  const blobs = storeBlobs(withoutRemoving(store));
  await blobs.put("store/x/1", new Uint8Array(3_000_000), 3_000_000, "");
  await blobs.remove("store/x/1");
  assert.is((await store.list(["blob_data"])).length, 6);
});

test.run();
