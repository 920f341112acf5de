import { type BatchApi, type CallBatch, numberColumns, numberIndex, wordColumns, wordIndex } from '#analytics/batch.ts';

/** An API whose place in the batch is found once. */
export interface BatchedApi {
  readonly facts: BatchApi;
  batchNumber: number;
  batchIndex: number;
}

/** The longest text a record keeps of what a caller sends. */
const maxWordCharacters = 1024;

const truncate = (text: string) => (text.length > maxWordCharacters ? text.slice(0, maxWordCharacters) : text);

/**
 * The batch that is being filled. Its tables are made once and used again; writing a call down stores numbers and looks
 * texts up, and makes nothing. A row is written column by column, then counted by `next`.
 */
export class RecorderRows {
  readonly capacity: number;
  readonly #numbers: Float64Array<ArrayBuffer>;
  readonly #places: Uint32Array<ArrayBuffer>;
  readonly #known = new Map<string, number>();
  readonly #lastWords: string[] = wordColumns.map(() => '');
  readonly #lastPlaces = new Uint32Array(wordColumns.length);
  #words: string[] = [''];
  #apis: BatchApi[] = [];
  #batch = 0;
  #count = 0;
  /** Characters of texts that no other call has. */
  #loose = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#numbers = new Float64Array(capacity * numberColumns.length);
    this.#places = new Uint32Array(capacity * wordColumns.length);
  }

  get count(): number {
    return this.#count;
  }

  get uniqueCharacters(): number {
    return this.#loose;
  }

  setNumber(column: keyof typeof numberIndex, value: number): void {
    this.#numbers[this.#count * numberColumns.length + numberIndex[column]] = value;
  }

  /** A text that other calls are likely to have too. */
  setWord(column: keyof typeof wordIndex, text: string): void {
    const at = wordIndex[column];
    // The call before often said the same: comparing costs less than looking up.
    if (text !== this.#lastWords[at]) {
      this.#lastWords[at] = text;
      this.#lastPlaces[at] = text === '' ? 0 : this.#placeOf(truncate(text));
    }
    this.#places[this.#count * wordColumns.length + at] = this.#lastPlaces[at]!;
  }

  #placeOf(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const place = this.#words.push(text) - 1;
    this.#known.set(text, place);
    return place;
  }

  /** A text of this call alone. */
  setUniqueText(column: keyof typeof wordIndex, text: string): void {
    this.#loose += text.length;
    this.#places[this.#count * wordColumns.length + wordIndex[column]] = text === '' ? 0 : this.#words.push(text) - 1;
  }

  api(api: BatchedApi): void {
    if (api.batchNumber !== this.#batch) {
      api.batchNumber = this.#batch;
      api.batchIndex = this.#apis.push(api.facts) - 1;
    }
    this.setNumber('api', api.batchIndex);
  }

  finishRow(): void {
    this.#count++;
  }

  /** Hands out what was written and begins anew. */
  drain(): CallBatch {
    const count = this.#count;
    const batch = {
      count,
      numbers: this.#numbers.slice(0, count * numberColumns.length),
      places: this.#places.slice(0, count * wordColumns.length),
      words: this.#words,
      apis: this.#apis,
    };
    this.#count = 0;
    this.#loose = 0;
    this.#batch++;
    this.#words = [''];
    this.#apis = [];
    this.#known.clear();
    this.#lastWords.fill('');
    this.#lastPlaces.fill(0);
    return batch;
  }
}
