/**
 * The interface of a step, and helpers for steps. Only tests import this.
 *
 * @module
 */
import type { FeatureClient, Loose } from "./test_feature_client.ts";

export interface Step {
  readonly name: string;
  run(client: FeatureClient): Promise<void>;
}

/** The tools of the feature server, in the order of `tools/list`. */
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
  "close_streams",
  "faults",
];

/** The text of a result. */
export function textOf(result: Loose): string {
  return result.content[0].text;
}

/** The code of the error; the result when there is no error. */
export function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then((value) => `resolved ${JSON.stringify(value)}`, (error) => error.code ?? error);
}

/**
 * The text of a call that is released at the progress for which `isLast` is true: official clients drop progress that
 * arrives together with the result.
 */
export async function callUntil(
  client: FeatureClient,
  name: string,
  isLast: (step: { progress: number }) => boolean,
): Promise<string> {
  const onprogress = (step: { progress: number }) => {
    if (isLast(step)) released = client.call("release", { key: name });
  };
  let released: Promise<unknown> | undefined;
  const result = await client.call(name, { key: name }, { onprogress });
  await released;
  return textOf(result);
}
