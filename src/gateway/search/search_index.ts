/**
 * Ranks documents with weighted fields for a query by BM25F (Robertson and Zaragoza, "The Probabilistic Relevance
 * Framework: BM25 and Beyond", 2009, section 3.6). The scores are computed once, so that a search only adds them.
 *
 * @module
 */
import { WorkSlice } from "../../http/work_slice.ts";
import { withoutFileNames } from "./file_names.ts";
import { relatedTo } from "./related_words.ts";
import { toTerms } from "./words.ts";

/** The texts of a document, by their weight. */
export interface Fields {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Names of parameters and the values that they may have. */
  readonly parameters: string;
  readonly parameterDescriptions: string;
}

interface FieldWeight {
  readonly weight: number;
  /** How much a long text counts less: 0 not at all, 1 in proportion to its length. */
  readonly lengthPenalty: number;
}

const WEIGHTS: Readonly<Record<keyof Fields, FieldWeight>> = {
  name: { weight: 3, lengthPenalty: 0.5 },
  title: { weight: 2, lengthPenalty: 0.5 },
  description: { weight: 1, lengthPenalty: 0.75 },
  parameters: { weight: 0.6, lengthPenalty: 0.7 },
  parameterDescriptions: { weight: 0.15, lengthPenalty: 0.75 },
};
const FIELDS = Object.keys(WEIGHTS) as (keyof Fields)[];

/** How fast a term's repetitions count less. */
const SATURATION = 2;
/** Weight of related words, and of longer words that begin with a word of the query. */
const RELATED_WEIGHT = 0.6;
const BEGINNING_WEIGHT = 0.6;
const MIN_BEGINNING_CHARACTERS = 3;
const MAX_LONGER_WORDS = 8;
/** Terms of a query that are searched. */
const MAX_QUERY_TERMS = 64;

interface Postings {
  readonly documents: Uint32Array;
  readonly scores: Float32Array;
  readonly rarity: number;
}

/** A position in the documents, and its score for the query. */
export interface Hit {
  readonly at: number;
  readonly score: number;
}

export interface SearchIndex {
  /** The best documents, in descending order of their score. */
  search(query: string, limit: number, isAllowed: (at: number) => boolean): Hit[];
  /** The score that a document outside of the index would have. */
  score(query: string, document: Fields): number;
}

type Weights = ReadonlyMap<string, number>;
type Lengths = Readonly<Record<keyof Fields, number>>;

/** Indexes the documents, in time slices: 5,000 take some hundred milliseconds. */
export async function createSearchIndex(documents: readonly Fields[]): Promise<SearchIndex> {
  const slice = new WorkSlice();
  const counted: CountedFields[] = [];
  for (const document of documents) {
    counted.push(countFields(document));
    if (slice.isOver) await slice.yield();
  }
  const averages = averageLengths(counted);
  const postings = await collectPostings(counted, averages, slice);
  const sorted = [...postings.keys()].sort();

  return {
    search(query, limit, isAllowed) {
      const wanted = toQueryTerms(query, postings, sorted);
      return selectBest(scoreDocuments(wanted, postings, documents.length), limit, isAllowed);
    },
    score(query, document) {
      const frequencies = toFrequencies(countFields(document), averages);
      let sum = 0;
      let matched = 0;
      const wanted = toQueryTerms(query, postings, sorted);
      for (const alternatives of wanted) {
        let best = 0;
        for (const [term, weight] of alternatives) {
          const frequency = frequencies.get(term);
          if (frequency === undefined) continue;
          const rarity = postings.get(term)?.rarity ?? rarityOf(0, documents.length);
          best = Math.max(best, weight * rarity * saturate(frequency));
        }
        sum += best;
        if (best > 0) matched++;
      }
      return sum * coverage(matched, wanted.length);
    },
  };
}

/** The average length of each field, in terms; 1 for a field that no document has. */
function averageLengths(counted: readonly CountedFields[]): Lengths {
  const averageOf = (field: keyof Fields) =>
    counted.reduce((sum, { lengths }) => sum + lengths[field], 0) / Math.max(counted.length, 1) || 1;
  return Object.fromEntries(FIELDS.map((field) => [field, averageOf(field)])) as Record<keyof Fields, number>;
}

/** The documents of each term, with their scores for it. */
async function collectPostings(
  counted: readonly CountedFields[],
  averages: Lengths,
  slice: WorkSlice,
): Promise<ReadonlyMap<string, Postings>> {
  const found = new Map<string, { documents: number[]; frequencies: number[] }>();
  for (const [at, counts] of counted.entries()) {
    for (const [term, frequency] of toFrequencies(counts, averages)) {
      let list = found.get(term);
      if (!list) found.set(term, list = { documents: [], frequencies: [] });
      list.documents.push(at);
      list.frequencies.push(frequency);
    }
    if (slice.isOver) await slice.yield();
  }
  const postings = new Map<string, Postings>();
  for (const [term, { documents, frequencies }] of found) {
    const rarity = rarityOf(documents.length, counted.length);
    postings.set(term, {
      documents: Uint32Array.from(documents),
      scores: Float32Array.from(frequencies, (frequency) => rarity * saturate(frequency)),
      rarity,
    });
  }
  if (slice.isOver) await slice.yield();
  return postings;
}

/** The score of each document, by its position. */
function scoreDocuments(
  wanted: readonly Weights[],
  postings: ReadonlyMap<string, Postings>,
  count: number,
): Float64Array {
  const scores = new Float64Array(count);
  const matched = new Uint8Array(count);
  const best = new Float64Array(count);
  for (const alternatives of wanted) {
    // Of a word and its related words only the best counts, or many synonyms would outweigh two words of the query.
    const touched: number[] = [];
    for (const [term, weight] of alternatives) {
      const list = postings.get(term);
      if (!list) continue;
      for (let i = 0; i < list.documents.length; i++) {
        const at = list.documents[i]!;
        if (best[at] === 0) touched.push(at);
        best[at] = Math.max(best[at]!, weight * list.scores[i]!);
      }
    }
    for (const at of touched) {
      scores[at]! += best[at]!;
      matched[at]!++;
      best[at] = 0;
    }
  }
  for (let at = 0; at < count; at++) scores[at]! *= coverage(matched[at]!, wanted.length);
  return scores;
}

/** How much a term says: the more, the fewer of `count` documents have it. */
function rarityOf(documents: number, count: number): number {
  return Math.log(1 + (count - documents + 0.5) / (documents + 0.5));
}

/** A document with more of the query's words is better than one that has one of them often. */
function coverage(matched: number, wanted: number): number {
  return wanted === 0 ? 0 : Math.sqrt(matched / wanted);
}

function saturate(frequency: number): number {
  return frequency * (SATURATION + 1) / (frequency + SATURATION);
}

interface CountedFields {
  readonly counts: ReadonlyMap<string, Readonly<Record<string, number>>>;
  readonly lengths: Lengths;
}

function countFields(document: Fields): CountedFields {
  const counts = new Map<string, Record<string, number>>();
  const lengths = { name: 0, title: 0, description: 0, parameters: 0, parameterDescriptions: 0 };
  for (const field of FIELDS) {
    const terms = toTerms(document[field]);
    lengths[field] = terms.length;
    for (const term of terms) {
      let of = counts.get(term);
      if (!of) counts.set(term, of = {});
      of[field] = (of[field] ?? 0) + 1;
    }
  }
  return { counts, lengths };
}

/** The weighted frequency of each term over all fields. */
function toFrequencies({ counts, lengths }: CountedFields, averages: Lengths): Map<string, number> {
  const frequencies = new Map<string, number>();
  for (const [term, of] of counts) {
    let sum = 0;
    for (const field of FIELDS) {
      const times = of[field];
      if (times === undefined) continue;
      const { weight, lengthPenalty } = WEIGHTS[field];
      sum += weight * times / (1 - lengthPenalty + lengthPenalty * lengths[field] / averages[field]);
    }
    frequencies.set(term, sum);
  }
  return frequencies;
}

/** For each word of the query the terms that match it: itself, related ones, and longer words when nothing has the word. */
function toQueryTerms(
  query: string,
  postings: ReadonlyMap<string, Postings>,
  sorted: readonly string[],
): Weights[] {
  const terms = [...new Set(toTerms(withoutFileNames(query)))].slice(0, MAX_QUERY_TERMS);
  return terms.map((term) => {
    const weights = new Map<string, number>();
    for (const other of relatedTo(term)) weights.set(other, RELATED_WEIGHT);
    weights.set(term, 1);
    if (postings.has(term) || term.length < MIN_BEGINNING_CHARACTERS) return weights;
    for (let at = firstAtLeast(sorted, term), left = MAX_LONGER_WORDS; left > 0; at++, left--) {
      if (!sorted[at]?.startsWith(term)) break;
      weights.set(sorted[at]!, BEGINNING_WEIGHT);
    }
    return weights;
  });
}

/** The position of the first text that is not less. */
function firstAtLeast(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function selectBest(scores: Float64Array, limit: number, isAllowed: (at: number) => boolean): Hit[] {
  const best: Hit[] = [];
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at]!;
    if (score === 0 || best.length === limit && score <= best.at(-1)!.score || !isAllowed(at)) continue;
    let place = best.length;
    while (place > 0 && best[place - 1]!.score < score) place--;
    best.splice(place, 0, { at, score });
    if (best.length > limit) best.pop();
  }
  return best;
}
