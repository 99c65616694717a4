/**
 * Prints the result of a tool for people: text as it is, structured content as JSON, and images and other files as a note,
 * or saved into a folder.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject } from "../../../json_schema/value.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";
import { printJson, printLine } from "../output.ts";
import { makeFolder } from "../../../store/drivers/sqlite/make_folder.ts";
import { printableLines, printableText } from "../printable_text.ts";
import { formatBytes } from "../progress_bar.ts";

/** The ends of file names. A server does not name files. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
};

/** @param folder where files are saved; without it, a note stands for them */
export function printResult(tool: string, result: Readonly<JsonObject>, folder: string | undefined): void {
  let files = 0;
  const printFile = (kind: string, data: unknown, type: unknown): void => {
    const bytes = Buffer.from(String(data), "base64");
    const label = `${kind}, ${printableText(String(type ?? "unknown type"))}, ${formatBytes(bytes.length)}`;
    if (folder === undefined) return printLine(`[${label}: --save DIR writes it]`);
    const ending = Object.hasOwn(ENDINGS, String(type)) ? ENDINGS[String(type)] : "bin";
    const path = join(folder, `${tool.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100)}-${++files}.${ending}`);
    makeFolder(resolve(folder));
    // Never replaces a file.
    writeFileSync(path, bytes, { flag: "wx" });
    printLine(`[${label}: saved as ${path}]`);
  };
  const content = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  for (const block of content) {
    const { type, text, data, mimeType, resource } = block;
    if (type === "text") printLine(printableLines(String(text)));
    else if (type === "image" || type === "audio") printFile(type, data, mimeType);
    else if (type === "resource" && isObject(resource)) {
      printLine(`[resource ${printableText(String(resource.uri))}]`);
      if (typeof resource.blob === "string") printFile("resource", resource.blob, resource.mimeType);
      else printLine(printableLines(String(resource.text ?? "")));
    } else if (type === "resource_link") {
      printLine(`[resource ${printableText(`${block.uri}${block.name ? ` (${block.name})` : ""}`)}]`);
    } else printJson(block, 2);
  }
  const { structuredContent } = result;
  if (structuredContent !== undefined && !content.some(({ text }) => isSameJson(text, structuredContent))) {
    printJson(structuredContent, 2);
  }
}

/** Servers repeat structured content as text, for clients that know only text. */
function isSameJson(text: unknown, value: unknown): boolean {
  try {
    return typeof text === "string" && JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
