import { Link } from '@tanstack/react-router';
import { Card } from '../../kit/card.tsx';
import { DualList } from '../../kit/dual-list.tsx';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { RecordValue } from '../forms/record-form.tsx';
import { useCatalogueItems } from './reference-items.ts';

const own = adminTexts.catalogues;

interface CatalogueCardProps {
  readonly draft: Draft<RecordValue>;
  /** Text for an object in no catalogue. */
  readonly warning: string;
}

/** Catalogues of a product or plan, numbers in the draft. The site offers what is in one: without any it warns. */
export function CatalogueCard({ draft: { value, change }, warning }: CatalogueCardProps) {
  const { items = [] } = useCatalogueItems('');
  const ids = (value.Catalogues ?? []) as readonly number[];
  return (
    <Card title={own.title}>
      <div className="flex flex-col gap-3">
        {ids.length === 0 && (
          <p className="text-warning">
            {warning}{' '}
            <Link to="/admin/catalogues" className="underline">
              {own.openList}
            </Link>
          </p>
        )}
        <DualList
          title={own.title}
          searchLabel={own.search}
          items={items}
          chosen={items.filter(({ id }) => ids.includes(Number(id)))}
          onChange={chosen => change({ Catalogues: chosen.map(({ id }) => Number(id)) })}
        />
      </div>
    </Card>
  );
}
