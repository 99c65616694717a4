import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DEMO, multipart, newService, refusal, SKILL_MD, zip } from "./test_service.ts";

const test = suite("skills/upload_size");

test("an upload above 8 MB is refused with 413 and not stored, with and without content-length", async () => {
  const { send, store } = await newService();
  const { body, type } = multipart([...DEMO, ["demo/large.bin", new Uint8Array(8 * 1024 * 1024)]]);
  for (const declared of [true, false]) {
    const headers: Record<string, string> = { "content-type": type };
    if (declared) headers["content-length"] = String(body.length);
    const response = await send("/v1/skills", { method: "POST", headers, body });
    await refusal(response, 413, "request_too_large");
  }
  assert.equal(await store.list(["skill"]), []);
  assert.equal(await store.list(["skill_file"]), []);
});

test("an endless upload is aborted with 413", async () => {
  const { send } = await newService();
  let sent = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
    cancel: () => void (cancelled = true),
  });
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  await refusal(await send("/v1/skills", init), 413, "request_too_large");
  assert.ok(cancelled);
  assert.ok(sent < 11 * 1024 * 1024, `${sent} bytes were read`);
});

test("an archive that unpacks to more than 8 MB and declares less is refused", async () => {
  const { upload, store } = await newService();
  const bomb = await zip([
    { name: "demo/SKILL.md", content: SKILL_MD },
    { name: "demo/zeros", content: new Uint8Array(9 * 1024 * 1024), method: 8, size: 10 },
  ]);
  assert.ok(bomb.length < 20_000);
  const response = await upload([["bomb.zip", bomb]]);
  assert.is((await response.clone().json()).error.details.error_code, "archive-size");
  await refusal(response, 400, "invalid_request_error");
  assert.equal(await store.list(["skill"]), []);
});

test("an archive whose files exceed 8 MB together is refused with 413", async () => {
  const { upload, store } = await newService();
  // Bytes that deflate to about a fiftieth: below the ratio limit, so that only the sum exceeds a limit.
  const content = new Uint8Array(1024 * 1024).map((_, i) => i % 97 === 0 ? i * 31 : 0);
  const entries = Array.from({ length: 9 }, (_, i) => ({ name: `demo/${i}`, content, method: 8 }));
  const archive = await zip([{ name: "demo/SKILL.md", content: SKILL_MD }, ...entries]);
  const response = await upload([["a.zip", archive]]);
  assert.is((await response.clone().json()).error.details.error_code, "upload-too-large");
  assert.match(await refusal(response, 413, "request_too_large"), "8388608");
  assert.equal(await store.list(["skill"]), []);
});

test("a skill of exactly 8 MB is accepted, and one byte more is refused", async () => {
  const { upload } = await newService();
  const filler = 8 * 1024 * 1024 - DEMO.reduce((sum, [, content]) => sum + content.length, 0);
  assert.is((await upload([...DEMO, ["demo/large.bin", new Uint8Array(filler)]])).status, 200);
  const over = await upload([...DEMO, ["demo/large.bin", new Uint8Array(filler + 1)]]);
  await refusal(over, 413, "request_too_large");
});

test.run();
