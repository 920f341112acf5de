import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { EditorState, Extension } from '@codemirror/state';

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

/** Member names and positions in lists, from the root of a text. */
export type CodePath = readonly (string | number)[];

/** Name of a member in a text, and the path of its object. */
export interface MemberName extends TextRange {
  readonly name: string;
  readonly path: CodePath;
}

/** Notation of a text for completion and hover documentation. */
export interface OutlineSyntax {
  /** Names or values at the cursor; null where the text has neither there. */
  complete(context: CompletionContext, outline: CodeOutline): CompletionResult | null;
  findName(state: EditorState, place: number): MemberName | undefined;
}

/** A notation: highlighting and completion. */
export interface CodeSyntax {
  readonly extension: Extension;
  readonly outline: OutlineSyntax;
}

/** Allowed members and values of a text by their path. */
export interface CodeOutline {
  listMembers(path: CodePath): readonly CodeMember[];
  /** Values of a member with few, as JSON. */
  listValues(path: CodePath): readonly string[];
}

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  onChange?(text: string): void;
  readonly isReadOnly?: boolean;
  /** `text` has no syntax of its own: schemas, rules. */
  readonly language?: 'json' | 'text';
  readonly marks?: readonly CodeMark[];
  /** Offers its members and values while the text is typed. */
  readonly outline?: CodeOutline | undefined;
  /** Notation of the text, in place of `language`. */
  readonly syntax?: CodeSyntax;
  /** Range of a JSON pointer in the text; by default in JSON. */
  readonly findRange?: (text: string, pointer: string) => TextRange;
}

export interface CodeDiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  readonly language?: 'json' | 'text';
}
