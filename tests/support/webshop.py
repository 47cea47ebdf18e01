"""WebShop's three files generated from the shared catalogues, for tests of the loader."""

import csv
import json
from pathlib import Path
from typing import Any


def write_webshop(catalog: Path, folder: Path, limit: int = 150) -> int:
    """Write the files under `folder/webshop`; returns the number of instructions."""
    target = folder / "webshop"
    target.mkdir(parents=True, exist_ok=True)
    products, attributes, human = [], {}, {}
    for record in json.loads((catalog / "dummyjson" / "products.json").read_text()):
        asin = f"D{record['id']:09d}"
        tags = [tag.lower() for tag in record["tags"]]
        products.append(_product(asin, record["title"], record["description"], record["price"],
                                 record["category"], f"Shop › {record['category']} › {tags[-1]}",
                                 {}))  # fmt: skip
        attributes[asin] = {"attributes": [*tags, record.get("brand", "plain").lower()]}
        human[asin] = [
            {
                "instruction": f"I am looking for {' and '.join(tags)} from "
                f"{record.get('brand', 'a plain brand')}.",
                "instruction_attributes": attributes[asin]["attributes"],
                "instruction_options": [],
            }
        ]
    for asin, group in _configurable(catalog / "magento" / "configurable_products.csv").items():
        name, options = group["name"], group["options"]
        kind = name.split()[-1].lower()
        products.append(_product(asin, name, group["description"], group["price"], "fashion",
                                 f"Clothing › {group['path']} › {kind}", options))  # fmt: skip
        attributes[asin] = {"attributes": [kind, "regular fit"]}
        expected = {key: values[len(asin) % len(values)] for key, values in options.items()}
        human[asin] = [
            {
                "instruction": f"Find me {name} in {' and '.join(expected.values())}.",
                "instruction_attributes": [kind],
                "instruction_options": list(expected.values()),
            }
        ]
    _write(target / "items_shuffle.json", products)
    _write(target / "items_ins_v2.json", attributes)
    _write(target / "items_human_ins.json", human)
    return sum(len(wishes) for wishes in human.values())


def _product(asin, name, text, price, category, path, options) -> dict[str, Any]:
    return {
        "asin": asin,
        "name": name,
        "full_description": text,
        "small_description": [text[:120]],
        "pricing": f"${price}",
        "category": category,
        "query": category,
        "product_category": path,
        "customization_options": {
            key: [{"value": value, "image": None} for value in values]
            for key, values in options.items()
        },
        "images": ["none"],
    }


def _configurable(path: Path) -> dict[str, dict[str, Any]]:
    groups: dict[str, dict[str, Any]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            extra = dict(
                part.split("=", 1)
                for part in (row["additional_attributes"] or "").split(",")
                if "=" in part
            )
            if row["product_type"] != "simple" or "size" not in extra:
                continue
            asin = row["sku"].split("-")[0][:10]
            group = groups.setdefault(
                asin,
                {
                    "name": row["name"].rsplit("-", 2)[0],
                    "description": row["description"],
                    "price": row["price"],
                    "path": row["categories"].split(",")[0].split("/")[-1],
                    "options": {"size": [], "color": []},
                },
            )
            for key, values in group["options"].items():
                if extra.get(key) and extra[key] not in values:
                    values.append(extra[key])
    return groups


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data), encoding="utf-8")
