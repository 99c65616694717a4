import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../../http/test_random.ts";
import { ORDINARY_ARCHIVES } from "../../../fixtures/hostile/ordinary_archives.ts";
import { SkillError } from "../error.ts";
import { DEMO, multipart, newService } from "../test_service.ts";
import { readZip } from "../archive/zip_reader.ts";

const test = suite("skills/api/upload: mutated bodies");

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff];

/** Changes, removes, inserts or repeats some bytes. */
function mutate(whole: Uint8Array, random: (below: number) => number): Uint8Array<ArrayBuffer> {
  let bytes = whole.slice() as Uint8Array<ArrayBuffer>;
  for (let n = random(4); n >= 0; n--) {
    const at = random(bytes.length || 1);
    const length = random(8) === 0 ? random(bytes.length || 1) : random(9);
    const before = bytes.subarray(0, at);
    switch (random(6)) {
      case 0:
        bytes = Uint8Array.from([...before, ...bytes.subarray(at + length)]);
        break;
      case 1:
        bytes = Uint8Array.from([...before, ...bytes.subarray(at, at + length), ...bytes.subarray(at)]);
        break;
      case 2:
        bytes = bytes.slice(0, at);
        break;
      case 3:
        bytes.fill(EXTREMES[random(EXTREMES.length)]!, at, at + 1 + random(4));
        break;
      default:
        bytes[at] = random(256);
    }
  }
  return bytes;
}

/** A body in pieces of random sizes. */
function inPieces(
  body: Uint8Array<ArrayBuffer>,
  random: (below: number) => number,
): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= body.length) return controller.close();
      controller.enqueue(body.slice(at, at += 1 + random(random(2) ? 20 : 2000)));
    },
  });
}

async function statusesOf(bodies: Iterable<[body: BodyInit, type: string]>): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const { send, events } = await newService({ uploadLimit: 100_000 });
  for (const [body, type] of bodies) {
    const init = { method: "POST", body, headers: { "content-type": type }, duplex: "half" } as RequestInit;
    const response = await send("/v1/skills", init);
    const answer = await response.json();
    assert.ok([200, 400, 413].includes(response.status), `${response.status} ${JSON.stringify(answer)}`);
    if (response.status !== 200) assert.ok(answer.error.details.problems.length > 0, JSON.stringify(answer));
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  }
  assert.equal(events.filter(({ type }) => type === "fault"), []);
  return statuses;
}

test("a mutated multipart body is accepted or refused with a code, without a fault", async () => {
  const random = createRandom(1);
  function* bodies(): Generator<[BodyInit, string]> {
    for (let i = 0; i < 1500; i++) {
      const { body, type } = multipart(DEMO, { note: "any text" });
      const changed = mutate(body, random);
      yield [i % 2 ? changed : inPieces(changed, random), type];
    }
  }
  const statuses = await statusesOf(bodies());
  assert.ok(statuses.get(200)! > 50 && statuses.get(400)! > 500, JSON.stringify([...statuses]));
});

test("a mutated archive is accepted or refused with a code, without a fault", async () => {
  const random = createRandom(2);
  const archives = await Promise.all(ORDINARY_ARCHIVES.map(({ make }) => make()));
  function* bodies(): Generator<[BodyInit, string]> {
    for (let i = 0; i < 3000; i++) {
      const { body, type } = multipart([["demo.zip", mutate(archives[i % archives.length]!, random)]]);
      yield [body, type];
    }
  }
  const statuses = await statusesOf(bodies());
  assert.ok(statuses.get(200)! > 50 && statuses.get(400)! > 1000, JSON.stringify([...statuses]));
});

test("files of a mutated archive have their original checksum and length", async () => {
  const random = createRandom(3);
  const archives = await Promise.all(ORDINARY_ARCHIVES.map(({ make }) => make()));
  const originals = await Promise.all(archives.map((archive) => readZip(archive, 100_000)));
  let accepted = 0;
  for (let i = 0; i < 5000; i++) {
    const which = i % archives.length;
    const files = await readZip(mutate(archives[which]!, random), 100_000).catch((error) => {
      assert.instance(error, SkillError);
      return undefined;
    });
    if (!files) continue;
    accepted++;
    const known = new Set(originals[which]!.map(({ crc, bytes }) => `${crc} ${bytes.length}`));
    for (const { bytes, crc } of files) assert.ok(known.has(`${crc} ${bytes.length}`));
  }
  assert.ok(accepted > 50, `${accepted}`);
});

test.run();
