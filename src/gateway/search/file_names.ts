/**
 * Replaces names of files and addresses in a query by what they are: a request to show `notes.txt` looks for a tool that
 * reads files, not for one with "notes" in its description.
 *
 * @module
 */

const KINDS: readonly [RegExp, string][] = [
  [/^(?:png|jpe?g|gif|webp|svg|bmp|tiff?|heic|ico)$/, " image file "],
  [/^(?:mp3|wav|ogg|flac|m4a)$/, " audio file "],
  [/^(?:mp4|mov|avi|mkv|webm)$/, " video file "],
  [
    /^(?:txt|md|csv|tsv|json|xml|ya?ml|toml|ini|log|docx?|xlsx?|pptx?|odt|pdf|html?|css|[cm]?[jt]sx?|py|rb|go|rs|java|kt|c|h|cpp|cs|php|sh|sql|zip|gz|tar)$/,
    " file ",
  ],
  [/^(?:com|org|net|io|dev|app|edu|gov)$/, " url "],
];

export function withoutFileNames(query: string): string {
  return query.replace(/https?:\/\/\S+/g, " url ").replace(
    /[\p{L}\p{N}_-][\p{L}\p{N}_./\\-]*\.(\p{L}[\p{L}\p{N}]{0,4})\b/gu,
    (name, ending: string) => KINDS.find(([endings]) => endings.test(ending.toLowerCase()))?.[1] ?? name,
  );
}
