/**
 * How the test clients read responses: the events of a stream, or whatever has a result.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";

/** The first object with a result in any text. */
export function findAnyResult(text: string): JsonObject {
  try {
    const message: unknown = JSON.parse(/\{.*\}/s.exec(text)?.[0] ?? "{}");
    return isJsonObject(message) && isJsonObject(message["result"]) ? message["result"] : {};
  } catch {
    return {};
  }
}

/** The events of a stream. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ data: string; eventId: string | undefined }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text = (text + decoder.decode(chunk, { stream: true })).replaceAll("\r\n", "\n");
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const get = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) =>
          line.slice(name.length + 1).replace(/^ /, "")
        );
      yield { data: get("data").join("\n"), eventId: get("id").at(-1) };
    }
  }
}
