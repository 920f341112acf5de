import { Plus, Trash2 } from 'lucide-react';
import { Badge } from '../../../kit/badge.tsx';
import { Button, IconButton } from '../../../kit/button.tsx';
import { Menu } from '../../../kit/menu.tsx';
import { texts } from '../../../texts/texts.ts';
import { useDefinitionForm } from '../form/form-context.ts';
import { type FormSchema, findSchema, listFormFields } from '../form/form-schema.ts';
import { toJsonObject } from '../form/json-members.ts';
import { DefinitionField } from '../form/schema-field.tsx';
import { gatewayMember } from '../form/use-definition-schema.ts';
import { type AuthMethodKind, addScheme, findSchemeKind, listSchemes, removeScheme, schemeFields } from './schemes.ts';

const own = texts.designer;
const kinds: readonly AuthMethodKind[] = ['key', 'jwt', 'basic', 'oauth2'];

/** Authentication methods of an OpenAPI document: its security schemes, with the settings of the gateway for each. */
export function AuthenticationMethods({ gateway }: { gateway: FormSchema }) {
  const form = useDefinitionForm();
  const definition = toJsonObject(form.read([]));
  const names = listSchemes(definition);
  const schema = findSchema(gateway, ['server', 'authentication', 'securitySchemes', 'any']);
  return (
    <section aria-label={own.methods} className="flex flex-col gap-3">
      {names.length === 0 && <p className="text-dim">{own.noMethods}</p>}
      {schema && names.map(name => <Method key={name} name={name} schema={schema} />)}
      {!form.isReadOnly && (
        <div>
          <Menu
            trigger={<Button icon={Plus}>{own.addMethod}</Button>}
            items={kinds.map(kind => ({
              label: own.methodKinds[kind],
              onSelect: () => form.set([], addScheme(definition, kind)),
            }))}
          />
        </div>
      )}
    </section>
  );
}

function Method({ name, schema }: { name: string; schema: FormSchema }) {
  const form = useDefinitionForm();
  const definition = toJsonObject(form.read([]));
  const kind = findSchemeKind(definition, name);
  const path = [gatewayMember, 'server', 'authentication', 'securitySchemes', name];
  const value = toJsonObject(form.read(path));
  const wanted = new Set<string>([...schemeFields[kind], ...Object.keys(value)]);
  const fields = listFormFields(schema).filter(([member]) => member === 'enabled' || wanted.has(member));
  return (
    <section aria-label={name} className="flex flex-col gap-4 rounded-card border border-line p-3">
      <header className="flex items-center gap-2">
        <code className="font-mono font-medium">{name}</code>
        <Badge>{own.methodKinds[kind]}</Badge>
        {!form.isReadOnly && (
          <span className="ml-auto">
            <IconButton
              icon={Trash2}
              label={own.removeMethod(name)}
              onClick={() => form.set([], removeScheme(definition, name))}
            />
          </span>
        )}
      </header>
      {fields.map(([member, it]) => (
        <DefinitionField key={member} path={[...path, member]} schema={it} />
      ))}
    </section>
  );
}
