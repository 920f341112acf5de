import type { ValidationError } from '#operations/validation-error.ts';
import type { Model } from '../model.ts';
import { type DataSource, readDataSource } from './data-source.ts';

type Block = Pick<Model['graphql'], 'dataSources' | 'fieldConfigs' | 'typeFieldConfigurations' | 'engineHeaders'>;

/** A field with the source of its values. */
export interface SourceField {
  readonly type: string;
  readonly field: string;
  readonly source: DataSource;
  readonly place: string;
}

/** Data graph of a definition: sources by field, and where the values of fields are in responses. */
export interface DataGraphDefinition {
  readonly fields: ReadonlyMap<string, SourceField>;
  /** Path of the value by field; empty: the whole response. Absent: the member named like the field. */
  readonly mappings: ReadonlyMap<string, readonly string[]>;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Errors of the definition; the gateway does not serve a graph with an error. */
  readonly errors: readonly ValidationError[];
}

export const toFieldKey = (type: string, field: string): string => `${type}.${field}`;

/** Reads both notations: data sources with their root fields, and a source for each field of the first engine. */
export function readDataGraph(block: Block): DataGraphDefinition {
  const errors: ValidationError[] = [];
  const fields = new Map<string, SourceField>();
  const mappings = new Map<string, readonly string[]>();
  const addField = (type: string, field: string, source: DataSource, place: string): void => {
    const key = toFieldKey(type, field);
    const other = fields.get(key);
    if (other) errors.push({ path: place, message: `${key} has the data source ${other.source.name} already` });
    else fields.set(key, { type, field, source, place });
  };
  for (const [at, { kind, name, internal, rootFields, config }] of block.dataSources.entries()) {
    const place = `graphql.engine.data_sources[${at}]`;
    const sourceName = name || `${at + 1}`;
    const written = { kind, name: sourceName, internal, config, kindPath: `${place}.kind`, place: `${place}.config` };
    const source = readDataSource(written, errors);
    if (!source) continue;
    for (const [position, { type, fields: names }] of rootFields.entries())
      for (const [index, field] of names.entries())
        addField(type, field, source, `${place}.root_fields[${position}].fields[${index}]`);
  }
  for (const { typeName, fieldName, disableDefaultMapping, path } of block.fieldConfigs)
    if (path.length > 0 || disableDefaultMapping) mappings.set(toFieldKey(typeName, fieldName), path);
  readFieldConfigurations(block, mappings, addField, errors);
  return { fields, mappings, headers: block.engineHeaders.map(({ key, value }) => [key, value] as const), errors };
}

/** Notation of the first engine: an entry without a source has a mapping alone. */
function readFieldConfigurations(
  { typeFieldConfigurations }: Block,
  mappings: Map<string, readonly string[]>,
  addField: (type: string, field: string, source: DataSource, place: string) => void,
  errors: ValidationError[],
): void {
  for (const [at, it] of typeFieldConfigurations.entries()) {
    const place = `graphql.type_field_configurations[${at}]`;
    const key = toFieldKey(it.typeName, it.fieldName);
    if (it.mappingDisabled) mappings.set(key, []);
    else if (it.mappingPath !== '') mappings.set(key, it.mappingPath.split('.'));
    if (it.kind === '') continue;
    const source = readDataSource(
      {
        kind: it.kind,
        kindPath: `${place}.data_source.kind`,
        name: key,
        internal: false,
        config: it.config,
        place: `${place}.data_source.data_source_config`,
      },
      errors,
    );
    if (source) addField(it.typeName, it.fieldName, source, place);
  }
}
