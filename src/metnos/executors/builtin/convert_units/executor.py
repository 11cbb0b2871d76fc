"""Converts numbers between units of measure. The units are a table; the code knows none of them."""

import difflib
import math
from fractions import Fraction

# Kind, then for each unit: how many of the kind's base unit it is, and the names it goes by, its own name first.
UNITS = {
    "length": """
        1 m metre metres meter meters metro metri
        1000 km kilometre kilometres kilometer kilometers chilometro chilometri
        0.01 cm centimetre centimetres centimeter centimeters centimetro centimetri
        0.001 mm millimetre millimetres millimeter millimeters millimetro millimetri
        0.000001 µm um micrometre micrometres micron microns
        0.000000001 nm nanometre nanometres nanometer nanometers
        0.0254 in inch inches pollice pollici
        0.3048 ft foot feet piede piedi
        0.9144 yd yard yards iarda iarde
        1609.344 mi mile miles miglio miglia
        1852 nmi nautical_mile nautical_miles miglio_nautico miglia_nautiche
        149597870700 au astronomical_unit
        9460730472580800 ly light_year light_years anno_luce anni_luce""",
    "mass": """
        1 kg kilogram kilograms kilo kilos chilo chili chilogrammo chilogrammi
        0.001 g gram grams grammo grammi
        0.000001 mg milligram milligrams milligrammo milligrammi
        0.1 hg etto etti ettogrammo
        100 q quintale quintali quintal
        1000 t tonne tonnes tonnellata tonnellate metric_ton metric_tons
        0.45359237 lb lbs pound pounds libbra libbre
        0.028349523125 oz ounce ounces oncia once
        6.35029318 st stone stones
        907.18474 short_ton short_tons us_ton us_tons
        1016.0469088 long_ton long_tons""",
    "temperature": "1 K kelvin",
    "data": """
        1 B byte bytes
        1/8 bit bits
        1000 kB kilobyte kilobytes
        1000000 MB megabyte megabytes
        1000000000 GB gigabyte gigabytes giga
        1000000000000 TB terabyte terabytes tera
        1000000000000000 PB petabyte petabytes
        1024 KiB kibibyte kibibytes
        1048576 MiB mebibyte mebibytes
        1073741824 GiB gibibyte gibibytes
        1099511627776 TiB tebibyte tebibytes
        1125899906842624 PiB pebibyte pebibytes
        125 kbit kb Kb kilobit kilobits
        125000 Mbit Mb megabit megabits
        125000000 Gbit Gb gigabit gigabits""",
    "speed": """
        1 m/s metres_per_second meters_per_second metri_al_secondo
        5/18 km/h kmh kph kilometres_per_hour kilometers_per_hour chilometri_orari
        0.44704 mph mi/h miles_per_hour miglia_orarie
        0.3048 ft/s feet_per_second
        463/900 kn knot knots nodo nodi
        299792458 c speed_of_light""",
    "time": """
        1 s sec second seconds secondo secondi
        0.001 ms millisecond milliseconds millisecondo millisecondi
        0.000001 µs us microsecond microseconds
        0.000000001 ns nanosecond nanoseconds
        60 min minute minutes minuto minuti
        3600 h hr hour hours ora ore
        86400 d day days giorno giorni
        604800 wk week weeks settimana settimane
        2629746 month months mese mesi
        31556952 yr year years anno anni""",
    "area": """
        1 m2 m² sqm square_metre square_metres square_meter square_meters metro_quadrato metri_quadrati mq
        1000000 km2 km² square_kilometre square_kilometres square_kilometers chilometri_quadrati
        0.0001 cm2 cm² square_centimetre square_centimetres centimetri_quadrati
        10000 ha hectare hectares ettaro ettari
        100 a are ara
        0.09290304 ft2 ft² sqft square_foot square_feet piedi_quadrati
        0.00064516 in2 in² square_inch square_inches
        0.83612736 yd2 yd² square_yard square_yards
        2589988.110336 mi2 mi² square_mile square_miles
        4046.8564224 ac acre acres acro acri""",
    "volume": """
        1 l L litre litres liter liters litro litri
        0.001 ml mL millilitre millilitres milliliter milliliters millilitro millilitri cm3 cm³ cc
        0.01 cl centilitre centilitres centilitro centilitri
        0.1 dl decilitre decilitres decilitro decilitri
        100 hl hectolitre ettolitro ettolitri
        1000 m3 m³ cubic_metre cubic_metres cubic_meter cubic_meters metro_cubo metri_cubi
        3.785411784 gal us_gallon gallon gallons gallone galloni
        4.54609 imperial_gallon imperial_gallons
        0.946352946 qt quart quarts
        0.473176473 pt pint pints pinta pinte
        0.56826125 imperial_pint imperial_pints
        0.2365882365 cup cups tazza tazze
        0.0295735295625 fl_oz fluid_ounce fluid_ounces
        0.01478676478125 tbsp tablespoon tablespoons
        0.00492892159375 tsp teaspoon teaspoons
        28.316846592 ft3 ft³ cubic_foot cubic_feet
        0.016387064 in3 in³ cubic_inch cubic_inches
        158.987294928 bbl barrel barrels barile barili""",
    "energy": """
        1 J joule joules
        1000 kJ kilojoule kilojoules
        4.184 cal calorie calories caloria calorie_piccole
        4184 kcal kilocalorie kilocalories chilocaloria chilocalorie
        3600 Wh watt_hour watt_hours wattora
        3600000 kWh kilowatt_hour kilowatt_hours chilowattora
        1055.05585262 btu""",
    "pressure": """
        1 Pa pascal pascals
        100 hPa hectopascal mbar millibar
        1000 kPa kilopascal
        100000 bar bars
        101325 atm atmosphere atmospheres
        6894.757293168 psi
        133.322387415 mmHg""",
    "angle": """
        1 rad radian radians radiante radianti
        0.017453292519943295769 deg ° degree degrees gradi_sessagesimali
        0.015707963267948966192 gon gradian gradians""",
}
# Scales whose zero lies elsewhere: kelvin = (value + shift) * factor.
SHIFTED = {
    "°C": (Fraction("273.15"), Fraction(1), "c celsius centigrade centigradi gradi_celsius gradi_centigradi degc"),
    "°F": (Fraction("459.67"), Fraction(5, 9), "f fahrenheit gradi_fahrenheit degf"),
    "°R": (Fraction(0), Fraction(5, 9), "rankine"),
}


def run(args, ctx):
    exact, loose = table()
    source, target = (units(args[name], exact, loose, ctx) for name in ("from", "to"))
    # A name may mean several things (c is a speed and a temperature): the other unit tells which.
    pairs = [(one, other) for one in source for other in target if one["kind"] == other["kind"]]
    if not pairs:
        ctx.fail("invalid", f"{source[0]['kind']} cannot be converted into {target[0]['kind']}")
    one, other = pairs[0]
    entries, failures = [], []
    for value in args["values"]:
        try:
            entries.append(entry(value, one, other))
        except OverflowError:
            failures.append(ctx.failure(value, "invalid", "the result is too large"))
    return {"entries": entries[: ctx.limit], "total": len(entries), "failures": failures}


def table():
    """Units by their names as they are spelled, and by their names in small letters."""
    found = []
    for kind, lines in UNITS.items():
        for line in lines.strip().splitlines():
            factor, *names = line.split()
            found.append({"kind": kind, "factor": Fraction(factor), "shift": Fraction(0), "names": names})
    for name, (shift, factor, more) in SHIFTED.items():
        found.append({"kind": "temperature", "factor": factor, "shift": shift, "names": [name, *more.split()]})
    exact, loose = {}, {}
    for unit in found:
        for name in unit["names"]:
            exact.setdefault(name, []).append(unit)
            loose.setdefault(name.casefold(), []).append(unit)
    return exact, loose


def units(text, exact, loose, ctx):
    """What a name may mean. Its spelling counts first: Mb is no MB, but KM is km."""
    name = "_".join(text.strip().split())
    found = exact.get(name, []) + loose.get(name.casefold(), [])
    if found:
        return found
    near = difflib.get_close_matches(name.casefold(), loose, n=3, cutoff=0.6)
    hint = f": is it {', '.join(near)}?" if near else ""
    raise ctx.Failure("invalid", f"there is no unit of the name {text[:40]!r}{hint}")


def entry(value, one, other):
    amount = (Fraction(str(value)) + one["shift"]) * one["factor"]
    result = float(amount / other["factor"] - other["shift"])
    # What is shown has twelve digits: behind them, numbers of this kind hold only noise.
    result = float(f"{result:.12g}")
    if not math.isfinite(result):
        raise OverflowError
    names = one["names"][0], other["names"][0]
    says = f"{value} {names[0]} = {result:.10g} {names[1]}"
    return {"value": value, "from": names[0], "result": result, "to": names[1], "kind": one["kind"], "says": says}
