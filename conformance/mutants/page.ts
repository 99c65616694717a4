/**
 * Answers to browsers with one thing changed.
 *
 * @module
 */
import { faultyAnswers, withFields } from "./message.ts";
import type { Wrap } from "./mutant.ts";

/** Lets other sites show the pages of a path in a frame. */
export const withoutFrameRules = (path: string): Wrap =>
  faultyAnswers(
    path,
    (answer) => withFields(answer, { "x-frame-options": undefined, "content-security-policy": undefined }),
  );

/** Sends browsers on by another status. */
export const redirected = (path: string, status: number): Wrap =>
  faultyAnswers(
    path,
    (answer, request) =>
      request.method === "POST" && answer.status < 400
        ? withFields(answer, { location: answer.headers.get("location") ?? "/" }, status)
        : answer,
  );

/** Writes a text with line ends into a field, as a server does that writes its fields itself. */
export function brokenFields(path: string, parameter: string): Wrap {
  return faultyAnswers(path, (answer, request) => {
    const [, ...lines] = (new URL(request.url).searchParams.get(parameter) ?? "").split("\r\n");
    const headers = new Headers(answer.headers);
    for (const line of lines) {
      const [name = "", ...value] = line.split(": ");
      if (name === "" || value.length === 0) break;
      headers.append(name, value.join(": "));
    }
    return new Response(answer.body, { status: answer.status, headers });
  });
}
