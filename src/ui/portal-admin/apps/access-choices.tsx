import type { PickItem } from '../../kit/pick-list.tsx';
import { PickList } from '../../kit/pick-list.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { usePlanItems, useProductItems } from '../lists/reference-items.ts';

const own = adminTexts.apps;

interface AccessChoicesProps {
  readonly products: readonly PickItem[];
  readonly plans: readonly PickItem[];
  onProducts(chosen: readonly PickItem[]): void;
  onPlans(chosen: readonly PickItem[]): void;
}

/** Numbers of chosen products or plans, as writes take them. */
export const toNumbers = (items: readonly PickItem[]): number[] => items.map(({ id }) => Number(id));

/** Products and one plan, found by name. */
export const AccessChoices = ({ products, plans, onProducts, onPlans }: AccessChoicesProps) => (
  <>
    <PickList
      title={own.products}
      searchLabel={own.searchProducts}
      empty={own.noProducts}
      chosen={products}
      onChange={onProducts}
      useItems={useProductItems}
    />
    <PickList
      isSingle
      title={own.plan}
      searchLabel={own.searchPlans}
      empty={own.noPlans}
      chosen={plans}
      onChange={onPlans}
      useItems={usePlanItems}
    />
  </>
);
