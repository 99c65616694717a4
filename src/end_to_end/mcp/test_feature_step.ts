/**
 * A step, and what steps share. Only tests import this.
 *
 * @module
 */
import type { FeatureClient, Loose } from "./test_feature_client.ts";

export interface Step {
  readonly name: string;
  run(client: FeatureClient): Promise<void>;
}

/** In the order of the list. */
export const TOOLS: readonly string[] = [
  "list_skills",
  "load_skill",
  "read_skill_file",
  "text",
  "image",
  "audio",
  "embedded",
  "link",
  "weather",
  "refuse",
  "route",
  "count",
  "chatter",
  "hang",
  "aborted",
  "wait",
  "release",
  "hang_up",
  "ask_form",
  "ask_url",
  "ask_model",
  "ask_tools",
  "ask_roots",
  "interview",
  "bake",
  "long_bake",
  "touch",
  "grow",
  "farewell",
  "faults",
];

/** The text of a result. */
export function textOf(result: Loose): string {
  return result.content[0].text;
}

/** The code of the error; of an answer, the answer. */
export function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then((value) => `answered ${JSON.stringify(value)}`, (error) => error.code ?? error);
}

/**
 * The text of a call that answers when it is released, upon progress that `last` knows: official clients drop progress
 * that comes in one piece with the answer.
 */
export async function callUntil(
  client: FeatureClient,
  name: string,
  last: (step: { progress: number }) => boolean,
): Promise<string> {
  const onprogress = (step: { progress: number }) => {
    if (last(step)) released = client.call("release", { key: name });
  };
  let released: Promise<unknown> | undefined;
  const result = await client.call(name, { key: name }, { onprogress });
  await released;
  return textOf(result);
}
