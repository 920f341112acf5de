import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SelectField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.productClientTypes;
const reads = ['GET /portal-api/products/{product_id}/client_types', 'GET /portal-api/products/{product_id}'] as const;
const wholeList = { page: 1, per_page: 1000 };

/** Client types of OAuth providers that developers choose from when they ask for a product. */
export function ProductClientTypes({ productId, isUsed }: { productId: number; isUsed: boolean }) {
  const params = { product_id: String(productId) };
  const read = useOperation('GET /portal-api/products/{product_id}/client_types', { params, query: wholeList });
  const remove = useWrite('DELETE /portal-api/products/{product_id}/client_types/{client_type_id}', reads);
  const toasts = useToasts();
  const types = read.data?.value;
  return (
    <Card title={own.title}>
      {!isUsed && <p className="mb-3 text-dim">{own.unused}</p>}
      {!types && <QueryState query={read} lines={2} />}
      {types?.length === 0 && <p className="text-dim">{own.empty}</p>}
      <ul className="flex flex-col gap-1">
        {types?.map(({ ID, Name }) => (
          <li key={ID} className="flex min-h-8 flex-wrap items-center gap-2">
            <span className="font-medium break-words">{Name}</span>
            <IconButton
              icon={Trash2}
              label={own.remove(Name)}
              onClick={() =>
                remove.mutate(
                  { given: { params: { ...params, client_type_id: String(ID) } } },
                  { onError: error => toasts.showError(error.message) },
                )
              }
            />
          </li>
        ))}
      </ul>
      {types && <AddClientType productId={params.product_id} attached={types.map(({ ID }) => ID)} />}
    </Card>
  );
}

function AddClientType({ productId, attached }: { productId: string; attached: readonly number[] }) {
  const [providerId, setProviderId] = useState('');
  const [typeId, setTypeId] = useState('');
  const providers = useOperation('GET /portal-api/oauth-providers', { query: wholeList });
  const add = useWrite('POST /portal-api/products/{product_id}/client_types', reads);
  const toOptions = (rows: readonly { readonly ID: number; readonly Name: string }[]) => [
    { value: '', label: '–' },
    ...rows.map(({ ID, Name }) => ({ value: String(ID), label: Name })),
  ];
  if (!providers.data) return <QueryState query={providers} lines={1} />;
  if (providers.data.value.length === 0) return <p className="mt-3 text-dim">{own.noProviders}</p>;
  return (
    <form
      className="mt-4 flex flex-wrap items-end gap-3"
      onSubmit={event => {
        event.preventDefault();
        const given = { params: { product_id: productId }, body: { ID: Number(typeId) } };
        add.mutate({ given }, { onSuccess: () => setTypeId('') });
      }}
    >
      <SelectField
        label={own.provider}
        value={providerId}
        onChange={event => {
          setProviderId(event.target.value);
          setTypeId('');
        }}
        options={toOptions(providers.data.value)}
      />
      {providerId !== '' && (
        <ClientTypeSelect providerId={providerId} attached={attached} value={typeId} onChange={setTypeId} />
      )}
      <Button type="submit" disabled={typeId === ''} isBusy={add.isPending}>
        {own.add}
      </Button>
      <ErrorText error={add.error} />
    </form>
  );
}

interface ClientTypeSelectProps {
  readonly providerId: string;
  readonly attached: readonly number[];
  readonly value: string;
  onChange(value: string): void;
}

function ClientTypeSelect({ providerId, attached, value, onChange }: ClientTypeSelectProps) {
  const read = useOperation('GET /portal-api/oauth-providers/{provider_id}', { params: { provider_id: providerId } });
  if (!read.data) return <QueryState query={read} lines={1} />;
  const free = read.data.value.ClientTypes.filter(({ ID }) => !attached.includes(ID));
  const options = [{ value: '', label: '–' }, ...free.map(({ ID, Name }) => ({ value: String(ID), label: Name }))];
  return (
    <SelectField label={own.type} value={value} onChange={event => onChange(event.target.value)} options={options} />
  );
}
