/** From a character to the one after the last. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** A place in the text with a message: a fault or a warning. */
export interface CodeMark {
  /** JSON pointer. */
  readonly pointer: string;
  readonly message: string;
  readonly level: 'error' | 'warning' | 'info';
}

/** A member that an object may have. */
export interface CodeMember {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

/** Allowed members and values of a JSON text, by the path of member names and positions in lists. */
export interface CodeOutline {
  listMembers(path: readonly (string | number)[]): readonly CodeMember[];
  /** Values of a member with few, as JSON. */
  listValues(path: readonly (string | number)[]): readonly string[];
}

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  onChange?(text: string): void;
  readonly isReadOnly?: boolean;
  /** `text` has no syntax of its own: schemas, rules. */
  readonly language?: 'json' | 'text';
  readonly marks?: readonly CodeMark[];
  /** Offers its members and values while JSON is typed. */
  readonly outline?: CodeOutline | undefined;
  /** Range of a JSON pointer in the text; by default in JSON. */
  readonly findRange?: (text: string, pointer: string) => TextRange;
}

export interface CodeDiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  readonly language?: 'json' | 'text';
}
