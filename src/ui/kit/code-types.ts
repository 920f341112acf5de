/** A place in the text with a message: a fault or a warning. */
export interface CodeMark {
  /** JSON pointer. */
  readonly pointer: string;
  readonly message: string;
  readonly level: 'error' | 'warning' | 'info';
}

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  onChange?(text: string): void;
  readonly isReadOnly?: boolean;
  /** `text` has no syntax of its own: schemas, rules. */
  readonly language?: 'json' | 'text';
  readonly marks?: readonly CodeMark[];
}

export interface CodeDiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}
