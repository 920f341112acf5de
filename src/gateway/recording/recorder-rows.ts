import { type BatchApi, type CallBatch, numberColumns, numberIndex, wordColumns, wordIndex } from '#analytics/batch.ts';

/** An API with its cached index in the current batch. */
export interface BatchedApi {
  readonly facts: BatchApi;
  batchNumber: number;
  batchIndex: number;
}

/** Columns of one request outside a batch. */
interface CapturedColumns {
  readonly api: BatchedApi;
  readonly numbers: readonly number[];
  readonly words: readonly string[];
}

/** Texts of one request alone. */
const uniqueColumns: ReadonlySet<string> = new Set<keyof typeof wordIndex>(['requestId', 'rawRequest', 'rawResponse']);

/** Bound of a client-supplied text in a record. */
const maxWordCharacters = 1024;

const truncate = (text: string) => (text.length > maxWordCharacters ? text.slice(0, maxWordCharacters) : text);

/**
 * Columnar batch of records. Its arrays are reused and texts are interned, so that a row allocates nothing. A row is
 * written column by column, then committed by `finishRow`.
 */
export class RecorderRows {
  readonly capacity: number;
  readonly #numbers: Float64Array<ArrayBuffer>;
  readonly #places: Uint32Array<ArrayBuffer>;
  readonly #indexByWord = new Map<string, number>();
  readonly #lastWords: string[] = wordColumns.map(() => '');
  readonly #lastIndexes = new Uint32Array(wordColumns.length);
  #words: string[] = [''];
  #apis: BatchApi[] = [];
  #batch = 0;
  #count = 0;
  /** Characters of texts that are not interned. */
  #uniqueCharacters = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#numbers = new Float64Array(capacity * numberColumns.length);
    this.#places = new Uint32Array(capacity * wordColumns.length);
  }

  get count(): number {
    return this.#count;
  }

  get uniqueCharacters(): number {
    return this.#uniqueCharacters;
  }

  setNumber(column: keyof typeof numberIndex, value: number): void {
    this.#numbers[this.#count * numberColumns.length + numberIndex[column]] = value;
  }

  /** Interned text: one that other requests are likely to repeat. */
  setWord(column: keyof typeof wordIndex, text: string): void {
    const at = wordIndex[column];
    // Often equal to the previous row: comparing costs less than a lookup.
    if (text !== this.#lastWords[at]) {
      this.#lastWords[at] = text;
      this.#lastIndexes[at] = text === '' ? 0 : this.#internWord(truncate(text));
    }
    this.#places[this.#count * wordColumns.length + at] = this.#lastIndexes[at]!;
  }

  #internWord(text: string): number {
    const known = this.#indexByWord.get(text);
    if (known !== undefined) return known;
    const place = this.#words.push(text) - 1;
    this.#indexByWord.set(text, place);
    return place;
  }

  /** Text of this request alone, not interned. */
  setUniqueText(column: keyof typeof wordIndex, text: string): void {
    this.#uniqueCharacters += text.length;
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

  /** Row of a record that was captured before. */
  copyRow({ api, numbers, words }: CapturedColumns): void {
    for (const [at, column] of numberColumns.entries()) this.setNumber(column, numbers[at]!);
    for (const [at, column] of wordColumns.entries())
      if (uniqueColumns.has(column)) this.setUniqueText(column, words[at]!);
      else this.setWord(column, words[at]!);
    this.api(api);
    this.finishRow();
  }

  /** Returns the batch and resets. */
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
    this.#uniqueCharacters = 0;
    this.#batch++;
    this.#words = [''];
    this.#apis = [];
    this.#indexByWord.clear();
    this.#lastWords.fill('');
    this.#lastIndexes.fill(0);
    return batch;
  }
}
