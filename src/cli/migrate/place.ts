/** Place of a value in an export. */
export interface ExportPlace {
  /** Path of the file. */
  readonly source: string;
  /** Place in the file: the key of a map, or an index. */
  readonly name: string;
}

export interface ExportedItem extends ExportPlace {
  readonly value: unknown;
}

export const formatPlace = ({ source, name }: ExportPlace): string => (name === '' ? source : `${source}: ${name}`);
