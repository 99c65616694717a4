/**
 * Uploads that are refused. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { newService, type TestFile } from "../test_service.ts";

/** Uploads and asserts 400 and an empty store. Returns the codes of the broken rules, and the message. */
export async function refused(
  files: readonly TestFile[],
  fields: Record<string, string> = {},
): Promise<string> {
  const { upload, store, events } = await newService();
  const response = await upload(files, fields);
  const { error } = await response.json();
  assert.is(response.status, 400, JSON.stringify(error));
  assert.is(error.type, "invalid_request_error");
  assert.equal(await store.list(["skill"]), []);
  assert.equal(events.filter((event) => event.type === "fault"), []);
  const codes = (error.details?.problems ?? []).map(({ code }: { code: string }) => code);
  return `${codes.join(" ")}: ${error.message}`;
}

export const skill = (
  frontMatter: string,
  body = "Text",
): TestFile[] => [["demo/SKILL.md", `---\n${frontMatter}\n---\n${body}`]];
export const described = "description: Does it. Use it.";
