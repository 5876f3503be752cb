package tpcds

import "strings"

func list(s string) []string { return strings.Split(s, "|") }

// categories of items: each has classes, a part of its makers' names, and
// numbers of brands.
var categories = []struct {
	name    string
	classes []string
	maker   string
	brands  int64
}{
	{"Women", list("dresses|fragrances|maternity|swimwear"), "amalg", 2},
	{"Men", list("accessories|shirts|sports-apparel|pants"), "importo", 2},
	{"Children", list("infants|newborn|school-uniforms|toddlers"), "exporti", 2},
	{"Shoes", list("athletic|kids|mens|womens"), "edu pack", 2},
	{"Music", list("country|rock|classical|pop"), "scholar", 2},
	{"Jewelry", list("birdal|bracelets|costume|custom|diamonds|earings|estate|gold|jewelry boxes|loose stones|mens watch|pendants|rings|semi-precious|womens watch"), "corp", 10},
	{"Home", list("accent|bathroom|bedding|blinds/shades|curtains/drapes|decor|flatware|furniture|glassware|kids|lighting|mattresses|paint|rugs|tables|wallpaper"), "brand", 10},
	{"Sports", list("archery|athletic shoes|baseball|basketball|camping|fishing|fitness|football|golf|guns|hockey|optics|outdoor|pools|sailing|tennis"), "nameless", 10},
	{"Books", list("arts|business|computers|cooking|reference|entertainments|fiction|history|home repair|mystery|parenting|romance|science|sports|self-help|travel"), "amalgamalg", 17},
	{"Electronics", list("audio|automotive|cameras|portable|camcorders|disk drives|dvd/vcr players|karoke|memory|monitors|musical|scanners|stereo|personal|televisions|wireless"), "univamalg", 17},
}

var (
	makers     = list("amalg|importo|edu pack|exporti|scholar|corp|brand|nameless|maxi|univ")
	digits     = list("bar|ought|able|pri|ese|anti|cally|ation|eing|n st")
	companies  = list("pri|able|ought|anti|cally|ese")
	sizes      = list("petite|small|medium|large|extra large|economy|N/A")
	units      = list("Unknown|Each|Dozen|Case|Pallet|Gross|Box|Pound|Ounce|Oz|Lb|Ton|Tbl|Tsp|Cup|Dram|Bunch|Bundle|Carton|N/A|Gram")
	reasons    = list("Package was damaged|Stopped working|Did not get it on time|Not the product that was ordred|Parts missing|Does not work with a product that I have|Gift exchange|Did not like the color|Did not like the model|Did not like the make|Did not like the warranty|No service location in my area|Found a better price in a store|Found a better extended warranty in a store|Not working any more|Did not fit|Wrong size|Lost my job|Duplicate purchase|Its is a boy|Its is a girl")
	shipTypes  = list("EXPRESS|NEXT DAY|OVERNIGHT|REGULAR|TWO DAY|LIBRARY")
	shipCodes  = list("AIR|SURFACE|SEA|BIKE")
	carriers   = list("UPS|FEDEX|AIRBORNE|USPS|DHL|TBS|ZHOU|ZOUROS|MSC|LATVIAN|ALLIANCE|ORIENTAL|BARIAN|BOXBUNDLES|CARGO|DIAMOND|RUPEKSA|GERMA|HARMSTORF|PRIVATECARRIER")
	potentials = list("0-500|501-1000|1001-5000|5001-10000|>10000|Unknown")
	educations = list("Primary|Secondary|College|2 yr Degree|4 yr Degree|Advanced Degree|Unknown")
	ratings    = list("Good|Low Risk|High Risk|Unknown")
	titles     = list("Mr.|Mrs.|Ms.|Miss|Sir|Dr.")
	hours      = list("8AM-4PM|8AM-12AM|8AM-8AM")
	colors     = strings.Fields(`almond azure beige bisque black blue brown chiffon coral cornflower cyan deep dim floral forest
		frosted ghost green honeydew indian khaki lemon light maroon medium midnight orange pale papaya peach plum powder
		purple red rosy salmon sandy slate smoke snow spring steel tomato turquoise violet white`)
	words = strings.Fields(`able about again ago almost already also always annual available bad basic best better big black
		british central certain children clear close common company complete conditions countries current different
		difficult early easily economic effects english european events exactly far federal final financial find foreign
		free full general goods great hands high hours human important industrial international large late legal likely
		little local long main major members modern national natural new normal nuclear obvious often old only open
		other particular past people perhaps personal political poor possible powers present previous private probably
		public quite rather real recent regular relations right royal schools serious services short significant similar
		simple small social special state strong sure systems then things times together true usually various very
		western whole words workers years young`)
	firstNames = strings.Fields(`James John Robert Michael William David Richard Charles Joseph Thomas Mary Patricia Linda
		Barbara Elizabeth Jennifer Maria Susan Margaret Dorothy Lisa Nancy Karen Betty Helen Sandra Donna Carol Ruth Sharon
		Daniel Paul Mark Donald George Kenneth Steven Edward Brian Ronald Anthony Kevin Jason Matthew Gary Timothy Jose
		Larry Jeffrey Frank`)
	lastNames = strings.Fields(`Smith Johnson Williams Jones Brown Davis Miller Wilson Moore Taylor Anderson Thomas Jackson
		White Harris Martin Thompson Garcia Martinez Robinson Clark Rodriguez Lewis Lee Walker Hall Allen Young Hernandez
		King Wright Lopez Hill Scott Green Adams Baker Gonzalez Nelson Carter Mitchell Perez Roberts Turner Phillips
		Campbell Parker Evans Edwards Collins Stewart Sanchez Morris Rogers Reed Cook Morgan Bell Murphy Bailey`)
	countries = list("ARGENTINA|AUSTRALIA|AUSTRIA|BELGIUM|BRAZIL|CANADA|CHILE|CHINA|CUBA|DENMARK|EGYPT|FINLAND|FRANCE|GERMANY|GHANA|GREECE|INDIA|IRELAND|ITALY|JAPAN|KENYA|MEXICO|NIGERIA|NORWAY|PERU|POLAND|PORTUGAL|SPAIN|SWEDEN|TURKEY|UNITED STATES|VIET NAM")
	streets   = strings.Fields(`1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th Adams Ash Birch Broadway Cedar Center Cherry Chestnut
		Church College Davis Dogwood East Elm First Forest Franklin Green Highland Hickory Hill Jackson Jefferson Johnson
		Lake Laurel Lee Lincoln Locust Main Maple Meadow Mill North Oak Park Pine Poplar Railroad Ridge River Second Smith
		South Spring Spruce Sunset Sycamore Third Valley View Walnut Washington West Williams Wilson Woodland`)
	streetKinds = strings.Fields("Ave Avenue Blvd Boulevard Circle Cir Court Ct. Drive Dr. Lane Ln Parkway Pkwy Road RD ST Street Way Wy")
	cities      = list("Antioch|Arlington|Ashland|Bethel|Bridgeport|Brownsville|Bunker Hill|Centerville|Clifton|Concord|Crossroads|Deerfield|Edgewood|Enterprise|Fairfield|Fairview|Five Forks|Five Points|Florence|Forest Hills|Franklin|Friendship|Georgetown|Glendale|Glenwood|Green Acres|Greenfield|Greenville|Greenwood|Hamilton|Harmony|Highland|Hillcrest|Hopewell|Jackson|Jamestown|Kingston|Lakeside|Lakeview|Lakewood|Lebanon|Liberty|Lincoln|Macedonia|Marion|Midway|Mount Olive|Mount Pleasant|Mount Zion|New Hope|Newport|Newtown|Oak Grove|Oak Hill|Oak Ridge|Oakdale|Oakland|Oakwood|Plainview|Pleasant Grove|Pleasant Hill|Pleasant Valley|Providence|Red Hill|Riverside|Riverview|Salem|Shady Grove|Shiloh|Springdale|Springfield|Spring Hill|Spring Valley|Stringtown|Sulphur Springs|Summit|Sunnyside|Union|Union Hill|Unionville|Valley View|Walnut Grove|Waterloo|White Oak|Wildwood|Wilson|Woodland|Woodlawn|Woodville")
	counties    = list("Adams|Allen|Barrow|Bronx|Brown|Butler|Calhoun|Carroll|Cass|Cherokee|Clark|Clay|Clinton|Crawford|Cumberland|Dallas|Daviess|Douglas|Fairfield|Fayette|Floyd|Franklin|Fulton|Grant|Greene|Hamilton|Hancock|Harrison|Henry|Howard|Huron|Jackson|Jasper|Jefferson|Johnson|Kittitas|Knox|Lake|Lawrence|Lee|Lewis|Lincoln|Logan|Luce|Madison|Marion|Marshall|Mercer|Mobile|Monroe|Montgomery|Morgan|Orange|Perry|Pierce|Pike|Polk|Pulaski|Raleigh|Randolph|Richland|Scott|Shelby|Union|Walker|Warren|Washington|Wayne|White|Williamson|Ziebach")
	zips        = strings.Fields("85669 86197 88274 83405 86475 85392 85460 80348 81792 24128 76232 65084 87816 83926 77556 20548 26231 43848 15126 91137")
)

// states with their numbers of counties, a measure of their sizes here, and
// their hours from Greenwich.
var states = []struct {
	name     string
	counties int64
	offset   int64
}{
	{"TX", 60, -6}, {"GA", 50, -5}, {"VA", 45, -5}, {"KY", 40, -5}, {"MO", 36, -6}, {"KS", 34, -6}, {"IL", 34, -6}, {"NC", 33, -5},
	{"IA", 33, -6}, {"TN", 31, -6}, {"NE", 31, -7}, {"IN", 31, -5}, {"OH", 29, -5}, {"MN", 29, -6}, {"MI", 28, -5}, {"MS", 27, -6},
	{"OK", 26, -6}, {"AR", 25, -6}, {"WI", 24, -6}, {"PA", 22, -5}, {"FL", 22, -5}, {"AL", 22, -6}, {"SD", 22, -7}, {"LA", 21, -6},
	{"CO", 21, -7}, {"NY", 21, -5}, {"CA", 19, -8}, {"MT", 19, -7}, {"WV", 18, -5}, {"ND", 18, -6}, {"SC", 15, -5}, {"ID", 15, -7},
	{"WA", 13, -8}, {"OR", 12, -8}, {"NM", 11, -7}, {"UT", 10, -7}, {"AK", 9, -9}, {"MD", 8, -5}, {"WY", 8, -7}, {"NJ", 7, -5},
	{"NV", 6, -8}, {"ME", 5, -5}, {"AZ", 5, -7}, {"VT", 4, -5}, {"MA", 4, -5}, {"NH", 3, -5}, {"CT", 3, -5}, {"HI", 2, -10},
	{"RI", 2, -5}, {"DE", 1, -5}, {"DC", 1, -5},
}

// statePick has every state as often as it has counties.
var statePick = func() []int {
	var out []int
	for i, s := range states {
		for range s.counties {
			out = append(out, i)
		}
	}
	return out
}()
