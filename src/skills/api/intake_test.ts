import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DEMO, multipart, newService, SKILL_MD, type TestService, zip } from "../test_service.ts";
import type { UploadOptions } from "./upload.ts";
import { createUploadReader } from "./upload.ts";

const test = suite("skills/api/upload: reading bodies");
const encoder = new TextEncoder();
const TYPE = "multipart/form-data; boundary=b";

const part = (disposition: string, content = "x"): string =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
const skill = part('name="files[]"; filename="demo/SKILL.md"', SKILL_MD);

/** Sends a body in pieces, without content-length. After `null` no further bytes follow. */
async function sendPieces(
  { send }: TestService,
  pieces: Iterable<Uint8Array | null>,
  headers: Record<string, string> = {},
): Promise<{ response: Response; sent: number; cancelled: boolean }> {
  const source = pieces[Symbol.iterator]();
  let sent = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = source.next();
      if (done) return controller.close();
      if (value === null) return new Promise(() => {});
      sent += value.length;
      controller.enqueue(value);
    },
    cancel: () => void (cancelled = true),
  });
  const init = { method: "POST", headers: { "content-type": TYPE, ...headers }, body, duplex: "half" };
  const response = await send("/v1/skills", init as RequestInit);
  await new Promise((resolve) => setTimeout(resolve, 1));
  return { response, sent, cancelled };
}

function* endless(start: string): Generator<Uint8Array> {
  yield encoder.encode(start);
  for (;;) yield new Uint8Array(50_000);
}

/** Status, type and code of an error response. Asserts that nothing is stored. */
async function refusal(
  { store, events }: TestService,
  response: Response,
): Promise<[number, string, string?]> {
  const { error } = await response.json();
  assert.equal((await store.list([])).filter(({ key }) => key[0] !== "api_key"), []);
  assert.equal(events, []);
  return [response.status, error.type, error.details?.error_code];
}

const TOO_LARGE = [413, "request_too_large", "upload-too-large"];
const invalid = (code: string) => [400, "invalid_request_error", code];

for (
  const [what, body, code] of [
    [
      "a repeated field",
      part("name=display_name") + part("name=display_name"),
      "upload-field-twice",
    ],
    ["both names of the label", part("name=display_name") + part("name=display_title"), "upload-field-twice"],
    ["a default twice", part("name=default", "true") + part("name=default", "false"), "upload-field-twice"],
    ["a file without a name", part('name="files[]"'), "upload-filename"],
    ["a plain field of 17 KB", part("name=x", "y".repeat(17_000)), "upload-field-length"],
    ["a part without a name", part('filename="x"'), "upload-malformed"],
    ["an endless part header", "--b\r\nX: " + "y".repeat(20_000), "upload-malformed"],
    ["2001 parts", part("name=x", "").repeat(2000), "upload-malformed"],
  ] as const
) {
  test(`${what} is refused, before and after the files`, async () => {
    for (const text of [body + skill + "--b--", skill + body + "--b--"]) {
      const service = await newService();
      const { response } = await sendPieces(service, [encoder.encode(text)]);
      assert.equal(await refusal(service, response), invalid(code));
    }
  });
}

for (
  const [what, headers, code] of [
    ["another media type", { "content-type": "application/zip" }, "upload-media-type"],
    ["no boundary", { "content-type": "multipart/form-data" }, "upload-malformed"],
    [
      "a boundary of 71 characters",
      { "content-type": `multipart/form-data; boundary=${"b".repeat(71)}` },
      "upload-malformed",
    ],
  ] as const
) {
  test(`${what} is refused`, async () => {
    const service = await newService();
    const { response } = await sendPieces(service, [encoder.encode(skill + "--b--")], headers);
    assert.equal(await refusal(service, response), invalid(code));
  });
}

test("two archives, an archive with files, and an invalid archive have different codes", async () => {
  const archive = await zip([{ name: "demo/SKILL.md", content: SKILL_MD }]);
  for (
    const [files, code] of [
      [[["a.zip", archive], ["b.zip", archive]], "upload-two-archives"],
      [[["a.zip", archive], ["readme.md", "x"]], "upload-archive-and-files"],
      [[["a.zip", "no archive"]], "archive-start"],
      [[["a.skill", ""]], "archive-start"],
    ] as const
  ) {
    const service = await newService();
    const { body, type } = multipart(files);
    const { response } = await sendPieces(service, [body], { "content-type": type });
    assert.equal(await refusal(service, response), invalid(code));
  }
});

test("SKILL.md and the label may come last, and fields named like members of objects are ignored", async () => {
  const service = await newService();
  const body = part('name="files[]"; filename="demo/x"') + part('name="__proto__"', '{"polluted":true}') +
    part('name="constructor"; filename="prototype"') + part('name="toString"') +
    part('name="file"; filename="demo/y"') + part('name="files[0]"; filename="demo/SKILL.md"', SKILL_MD) +
    part('name="files"; filename="demo/z"') + part("name=display_name", "Label") + "--b--";
  const { response } = await sendPieces(service, [encoder.encode(body)]);
  assert.is(response.status, 200, await response.clone().text());
  assert.is((await response.json()).display_name, "Label");
  assert.is(({} as { polluted?: boolean }).polluted, undefined);
});

test("the first value of each plain field is returned", async () => {
  const intake = createUploadReader({ limit: 1000 });
  const body = skill + part("name=default", "true") + part('name="x"', " é ") + part("name=x", "second") +
    part("name=__proto__") + "--b--";
  const request = new Request("http://h/", { method: "POST", body, headers: { "content-type": TYPE } });
  const fields = await intake(request, { id: "me" }, ({ fields }) => Promise.resolve(fields));
  assert.equal([...fields], [["default", "true"], ["x", "é"], ["__proto__", "x"]]);
});

test("files of exactly the limit are accepted, and one byte more is refused with 413", async () => {
  const limit = 100_000;
  for (const more of [0, 1]) {
    const files = [["demo/SKILL.md", SKILL_MD], [
      "demo/x",
      new Uint8Array(limit - SKILL_MD.length + more),
    ]] as const;
    const { body, type } = multipart(files);
    for (const headers of [{}, { "content-length": String(body.length) }]) {
      const service = await newService({ uploadLimit: limit });
      const { response } = await sendPieces(service, [body], { "content-type": type, ...headers });
      if (more === 0) assert.is(response.status, 200, await response.text());
      else assert.equal(await refusal(service, response), TOO_LARGE);
    }
  }
});

test("a body with a content-length above the limit is not read", async () => {
  const service = await newService({ uploadLimit: 1000 });
  const { response, sent } = await sendPieces(service, [encoder.encode(skill), null], {
    "content-length": "100000000",
  });
  assert.equal(await refusal(service, response), TOO_LARGE);
  assert.ok(sent <= skill.length, "only what the stream buffers by itself");
});

test("a body above its content-length is aborted at the limit", async () => {
  const service = await newService({ uploadLimit: 100_000 });
  const start = part('name="files[]"; filename="demo/SKILL.md"').slice(0, -3);
  const { response, sent, cancelled } = await sendPieces(service, endless(start), {
    "content-length": "500",
  });
  assert.equal(await refusal(service, response), TOO_LARGE);
  assert.ok(cancelled && sent < 250_000, `${sent} bytes were read`);
});

test("an endless upload is aborted at the limit in every part", async () => {
  for (
    const start of [
      part('name="files[]"; filename="demo/SKILL.md"').slice(0, -3),
      part('name="display_name"').slice(0, -3),
      part('name="other"; filename="x"').slice(0, -3),
      skill + "--b--",
      "",
    ]
  ) {
    const service = await newService({ uploadLimit: 100_000 });
    const { response, sent, cancelled } = await sendPieces(service, endless(start));
    assert.equal(await refusal(service, response), TOO_LARGE);
    assert.ok(cancelled && sent < 2_500_000, `${sent} bytes were read`);
  }
});

const quick = (options: Partial<UploadOptions>) => newService({ intake: options });

test("an idle or slow body is refused with 400, which clients do not retry", async () => {
  const silent = await quick({ idle: 30 });
  const first = await sendPieces(silent, [encoder.encode(skill), null]);
  assert.ok(first.cancelled);
  assert.equal(await refusal(silent, first.response), invalid("upload-too-slow"));

  const dripping = await quick({ whole: 60 });
  const second = await dripping.send("/v1/skills", {
    method: "POST",
    headers: { "content-type": TYPE },
    body: new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        controller.enqueue(encoder.encode("x"));
      },
    }),
    duplex: "half",
  } as RequestInit);
  assert.equal(await refusal(dripping, second), invalid("upload-too-slow"));
});

test("an aborted upload stores nothing and releases its memory", async () => {
  const service = await newService({ uploadLimit: 5_000_000, intake: { memory: 0, wait: 5000 } });
  for (let i = 0; i < 20; i++) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(skill)),
      pull: (controller) => controller.error(new Error("connection lost")),
    });
    const response = await service.send("/v1/skills", {
      method: "POST",
      headers: { "content-type": TYPE },
      body,
      duplex: "half",
    } as RequestInit);
    assert.equal(await refusal(service, response), invalid("upload-malformed"));
  }
  assert.is((await service.upload(DEMO)).status, 200);
});

test("uploads wait for memory, and get 529 with retry-after when they wait too long", async () => {
  const service = await quick({ memory: 0, wait: 200, idle: 2000 });
  let end = () => {};
  const held = service.send("/v1/skills", {
    method: "POST",
    headers: { "content-type": TYPE },
    body: new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode(skill));
        end = () => {
          controller.enqueue(encoder.encode("--b--"));
          controller.close();
        };
      },
    }),
    duplex: "half",
  } as RequestInit);
  const { body, type } = multipart(DEMO);
  const large = () =>
    service.send("/v1/skills", {
      method: "POST",
      headers: { "content-type": type, "content-length": "9000000" },
      body,
    });
  const refused = await large();
  assert.is(refused.status, 529);
  assert.is(refused.headers.get("retry-after"), "5");
  const { type: kind, error } = await refused.json();
  assert.equal([kind, error.type], ["error", "overloaded_error"]);
  const waiting = large();
  end();
  assert.is((await held).status, 200);
  assert.is((await waiting).status, 200, "memory was free before the timeout");
});

test("a hundred concurrent uploads with memory for two are all accepted", async () => {
  const service = await newService({ uploadLimit: 200_000, intake: { memory: 0 } });
  const archive = await zip([
    { name: "demo/SKILL.md", content: SKILL_MD, method: 8 },
    { name: "demo/x", content: new Uint8Array(100_000).map((_, i) => i * i), method: 8 },
  ]);
  const answers = await Promise.all(Array.from({ length: 100 }, () => service.upload([["a.zip", archive]])));
  assert.equal(answers.map(({ status }) => status), Array(100).fill(200));
  const skills = await service.store.list(["skill", "default"]);
  assert.is(skills.length, 100);
});

test.run();
