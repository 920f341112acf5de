import { createContext, use } from 'react';
import type { FieldPath } from './json-members.ts';

/** Access of fields to a definition: reads, writes and faults. */
export interface DefinitionForm {
  read(path: FieldPath): unknown;
  /** undefined removes the member. */
  set(path: FieldPath, value: unknown): void;
  readonly isReadOnly: boolean;
  /** Fault of the server at this member. */
  findFault(path: FieldPath): string | undefined;
  /** Text of a field that has no value yet, such as incomplete JSON: the form cannot be saved. */
  setIncomplete(pointer: string, isIncomplete: boolean): void;
  /** Text that fields must contain in their name or help; empty shows all. */
  readonly filter: string;
}

export const DefinitionFormContext = createContext<DefinitionForm | undefined>(undefined);

export function useDefinitionForm(): DefinitionForm {
  const form = use(DefinitionFormContext);
  if (!form) throw new Error('useDefinitionForm needs DefinitionFormContext above it');
  return form;
}
